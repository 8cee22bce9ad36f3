"""Rows, bars and the table. A bar is a ratio of figures from the same run, or a count."""

import datetime
import json
import os
import pathlib
import platform
import resource
import statistics
import subprocess
import time

from harness import tools

# Above this, what depends on the time on the clock says more about others than about larm.
OTHERS_MAX = 0.25


class Report:
    """Grows while the parts run; is printed and written at the end."""

    def __init__(self, quick):
        self.quick = quick
        self.machine = machine()
        self.parts = {}
        self.part = None

    def begin(self, part):
        self.part = self.parts[part] = {"rows": [], "bars": [], "notes": [], "raw": {}}
        self.load = Load()
        print(f"\n## {part}", flush=True)

    def end(self):
        """Judges the part, now that it is known how much else was going on."""
        others = self.load.of_others()
        self.row("processors kept busy by others meanwhile", others)
        for bar in self.part["bars"]:
            if bar["by_clock"] and others > OTHERS_MAX:
                bar["verdict"] = "NOISY"
            print(f"  {bar['verdict']:<5} {bar['what']}: {show(bar['figure'])} ({bar['limit']})", flush=True)

    def row(self, what, figure, unit=""):
        self.part["rows"].append({"what": what, "figure": figure, "unit": unit})
        print(f"  {what:<58} {show(figure):>12} {unit}", flush=True)

    def note(self, text):
        self.part["notes"].append(text)
        print(f"  note: {text}", flush=True)

    def raw(self, name, value):
        """Kept in the JSON only."""
        self.part["raw"][name] = value

    def bar(self, what, figure, at_most=None, at_least=None, by_clock=False):
        """What must hold. A bar that goes by the clock is not met while others keep the machine busy."""
        met = figure <= at_most if at_least is None else figure >= at_least
        limit = f"≤ {at_most}" if at_least is None else f"≥ {at_least}"
        verdict = "PASS" if met else "FAIL"
        self.part["bars"].append(
            {"what": what, "figure": figure, "limit": limit, "verdict": verdict, "by_clock": by_clock}
        )

    def failed(self, error):
        """The part could not be measured: its bars are not met."""
        self.part["bars"].append(
            {"what": str(error), "figure": None, "limit": "–", "verdict": "FAIL", "by_clock": False}
        )

    @property
    def bars(self):
        return [bar for part in self.parts.values() for bar in part["bars"]]

    def write(self):
        tools.OUT.mkdir(parents=True, exist_ok=True)
        (tools.OUT / "table.md").write_text(self.markdown())
        whole = {"quick": self.quick, "machine": self.machine, "parts": self.parts}
        (tools.OUT / "figures.json").write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n")

    def markdown(self):
        about = self.machine
        lines = [
            f"{about['date']}, {about['cpus']} × {about['cpu']}, {about['memory_gb']} GB, {about['kernel']}, "
            f"{about['rustc']}, load {about['load']} at the start" + (", quick" if self.quick else ""),
            "",
            "| bar | figure | limit | |",
            "|---|---|---|---|",
        ]
        for bar in self.bars:
            what = bar["what"].splitlines()[0]
            lines.append(f"| {what} | {show(bar['figure'])} | {bar['limit']} | {bar['verdict']} |")
        for name, part in self.parts.items():
            lines += ["", f"### {name}", "", "| | | |", "|---|---:|---|"]
            lines += [f"| {row['what']} | {show(row['figure'])} | {row['unit']} |" for row in part["rows"]]
            lines += [f"\n{note}" for note in part["notes"]]
        return "\n".join(lines) + "\n"


class Load:
    """What the machine does besides what we start, from now on."""

    def __init__(self):
        self.start = (time.monotonic(), busy_seconds(), own_seconds())

    def of_others(self):
        """Processors that others kept busy, on average. What we started has ended."""
        clock, busy, own = self.start
        others = (busy_seconds() - busy) - (own_seconds() - own)
        return max(others, 0) / (time.monotonic() - clock)


def busy_seconds():
    """Processor time of everybody since the machine started, with what a hypervisor took away."""
    fields = [int(field) for field in pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
    user, nice, system, _idle, _iowait, irq, softirq, steal = fields
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def own_seconds():
    """Processor time of this process and of those it has waited for."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def show(figure):
    if figure is None:
        return "–"
    if isinstance(figure, str):
        return figure
    if isinstance(figure, int) or figure >= 1000:
        return f"{figure:,.0f}"
    return f"{figure:.3g}" if figure < 100 else f"{figure:.0f}"


def median(values):
    return statistics.median(list(values))


def rounds(count, contestants):
    """Lets all of them run in turn, so many times: what disturbs the machine disturbs each of them."""
    results = {name: [] for name in contestants}
    for _ in range(count):
        for name, contestant in contestants.items():
            results[name].append(contestant())
    return results


def machine():
    info = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.split(":", 1)[1].strip() for line in info if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    rustc = subprocess.run(["rustc", "--version"], stdout=subprocess.PIPE, text=True).stdout.strip()
    return {
        "date": datetime.date.today().isoformat(),
        "cpu": names[0] if names else platform.machine(),
        "cpus": os.cpu_count(),
        "memory_gb": round(memory / 2**30),
        "kernel": f"Linux {platform.release()}",
        "rustc": rustc,
        "load": round(os.getloadavg()[0], 1),
    }
