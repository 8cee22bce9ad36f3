"""The command: which parts, in which order."""

import argparse
import importlib
import resource
import subprocess

from harness import report, tools

PARTS = {
    "cpu": "processor time per page, against the floor; plain and gzip",
    "documents": "the same on real pages: LARM_BENCH_DOCUMENTS=DIR[:DIR…], each a site",
    "peers": "other crawlers on the same web",
    "threads": "two threads against one",
    "latency": "a slow web, against a bare loop with as many connections",
    "auto": "--concurrency auto against fixed settings",
    "features": "what each thing larm does costs",
    "frontier": "frontier and seen set by themselves",
    "parse": "instructions of the parser, against a DOM",
    "start": "how soon it works",
    "million": "a million pages on 5,000 hosts: memory, kill -9, coverage",
}
FILES_MIN = 20_000


def main():
    options = arguments()
    allow_many_files()
    whole = report.Report(options.quick)
    try:
        tools.kit("web")
        print(f"  larm: {tools.larm()}")
    except (tools.Failure, subprocess.CalledProcessError) as error:
        print(f"cannot begin: {error}")
        return 2
    for name in options.parts or PARTS:
        measure(name, whole, options.quick)
        whole.write()
    print(f"\n{whole.markdown()}\nwritten: {tools.OUT / 'table.md'}, {tools.OUT / 'figures.json'}")
    verdicts = [bar["verdict"] for bar in whole.bars]
    print(", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in ("PASS", "FAIL", "NOISY")))
    return 0 if set(verdicts) <= {"PASS"} else 1


def arguments():
    parts = "\n".join(f"  {name:<10} {what}" for name, what in PARTS.items())
    parser = argparse.ArgumentParser(
        prog="benches/run",
        description="Measures larm. LARM names a binary; without it, one is built.",
        epilog=f"parts:\n{parts}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], metavar="PART", help="all, if none is named")
    parser.add_argument("--quick", action="store_true", help="smaller webs, one round")
    return parser.parse_args()


def measure(name, whole, quick):
    """One part. What goes wrong in it is reported, and the next one goes on."""
    whole.begin(name)
    try:
        importlib.import_module(f"harness.parts.{name}").measure(whole, quick)
    except (tools.Failure, subprocess.CalledProcessError) as error:
        whole.failed(error)
    whole.end()


def allow_many_files():
    """Thousands of connections are thousands of files, here and in what we start."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES_MIN if hard == resource.RLIM_INFINITY else min(FILES_MIN, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    if wanted < FILES_MIN:
        print(f"  note: at most {wanted} open files are allowed (ulimit -Hn); {FILES_MIN} are wanted")
