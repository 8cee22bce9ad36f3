"""Two threads against one, by pages per second; and what the machine allows, by the floor on as many.

The archive alone: the index has threads of its own, which would keep a second processor busy beside one worker.
"""

from harness import crawl, tools
from harness.process import Web
from harness.report import median, rounds

COUNTS = {"one thread": 1, "two threads": 2}


def measure(report, quick):
    # Long enough for the start and the end, which one thread does, not to count: a sixth of a second together.
    size = {"hosts": 20 if quick else 100, "pages": 200 if quick else 1_500}
    if not tools.larm_has("--threads"):
        report.note("this larm has no --threads: TOKIO_WORKER_THREADS is used, which its other threads do not heed")
    floors = {f"floor, {name}": lambda n=n: crawl.floor(Web(**size), "warc", "--threads", n) for name, n in COUNTS.items()}
    larms = {f"larm, {name}": lambda n=n: with_threads(size, n) for name, n in COUNTS.items()}
    results = rounds(1 if quick else 3, {**floors, **larms})
    rate = {name: median(result.rate for result in all) for name, all in results.items()}
    for name, all in results.items():
        report.row(name, rate[name], "pages/s")
        report.row("  processors that it kept busy", median(result.cost.cpu / result.cost.wall for result in all))
    report.row("floor: two threads / one", rate["floor, two threads"] / rate["floor, one thread"])
    ratio = rate["larm, two threads"] / rate["larm, one thread"]
    report.bar("pages/s: two threads / one", ratio, at_least=1.7, by_clock=True)


def with_threads(size, threads):
    if tools.larm_has("--threads"):
        return crawl.larm(Web(**size), "--threads", threads, *crawl.ARCHIVE_ALONE)
    return crawl.larm(Web(**size), *crawl.ARCHIVE_ALONE, env={"TOKIO_WORKER_THREADS": str(threads)})
