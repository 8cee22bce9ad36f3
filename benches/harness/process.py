"""A process and what it cost; the synthetic web as one of them."""

import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import threading
import time
import urllib.request

from harness import tools


@dataclasses.dataclass
class Cost:
    """What the kernel says about a process that has ended."""

    code: int
    wall: float
    user: float
    sys: float
    rss_mb: float
    output: str
    started: float
    """Seconds since 1970."""
    samples: list
    """(seconds since the start, resident MB), if asked for."""

    @property
    def cpu(self):
        return self.user + self.sys


class Child:
    """A process that runs. Ask it to `finish` for its cost."""

    def __init__(self, argv, env=None, cwd=None, sample_every=None, log=None):
        self.log = log or tools.scratch("output", fresh=False) / f"{time.monotonic_ns()}.log"
        self.started = time.time()
        self.begin = time.monotonic()
        with open(self.log, "wb") as out:
            self.process = subprocess.Popen(
                [str(word) for word in argv],
                env={**os.environ, **(env or {})},
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        self.samples = []
        if sample_every:
            threading.Thread(target=self._sample, args=(sample_every,), daemon=True).start()

    def _sample(self, every):
        while (rss := resident_mb(self.process.pid)) is not None:
            self.samples.append((round(time.monotonic() - self.begin, 2), round(rss, 1)))
            time.sleep(every)

    def kill(self):
        """As a power cut does: no warning."""
        self.process.send_signal(signal.SIGKILL)

    def finish(self, timeout=7200):
        watch = threading.Timer(timeout, self.kill)
        watch.start()
        _, status, usage = os.wait4(self.process.pid, 0)
        watch.cancel()
        self.process.returncode = os.waitstatus_to_exitcode(status)
        return Cost(
            code=self.process.returncode,
            wall=time.monotonic() - self.begin,
            user=usage.ru_utime,
            sys=usage.ru_stime,
            rss_mb=usage.ru_maxrss / 1024,
            output=self.log.read_text(errors="replace"),
            started=self.started,
            samples=self.samples,
        )


def run(argv, **options):
    """Runs a process to its end."""
    timeout = options.pop("timeout", 7200)
    return Child(argv, **options).finish(timeout)


def resident_mb(pid):
    """Resident memory; none once the process has ended."""
    try:
        for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
    except (FileNotFoundError, ProcessLookupError):
        pass
    return None


class Web:
    """The synthetic web, while a `with` block runs. Afterwards `ledger` says what was asked for."""

    def __init__(self, hosts=100, pages=200, **options):
        self.hosts, self.pages = hosts, pages
        self.spec = ["--hosts", hosts, "--pages", pages, "--port", tools.PORT]
        for name in ("bytes", "links", "files"):
            if name in options:
                self.spec += [f"--{name}", options.pop(name)]
        self.gzip = options.pop("gzip", False)
        if self.gzip:
            self.spec.append("--gzip")
        self.argv = [tools.kit("web"), *self.spec]
        for name, value in options.items():
            self.argv += ["--" + name.replace("_", "-"), value]
        self.seeds = tools.scratch("web") / "seeds.txt"
        self.ledger = None

    @property
    def size(self):
        return self.hosts * self.pages

    def __enter__(self):
        argv = [str(word) for word in self.argv]
        self.seeds.write_bytes(subprocess.run([*argv, "--seeds"], stdout=subprocess.PIPE, check=True).stdout)
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        line = self.process.stdout.readline()
        if not line:
            raise tools.Failure(f"the synthetic web did not start; is port {tools.PORT} taken?")
        self.ready = json.loads(line)
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.ledger = json.loads(self.process.stdout.readline() or "{}")
        self.process.wait()

    def count(self):
        """The ledger so far."""
        with urllib.request.urlopen(f"http://127.0.0.1:{tools.PORT}/") as answer:
            return json.load(answer)

    def wait_for(self, reached, every, while_running):
        """Waits until the ledger is as wanted, or the process is gone; gives the ledger."""
        while True:
            ledger = self.count()
            if reached(ledger) or while_running.process.poll() is not None:
                return ledger
            time.sleep(every)
