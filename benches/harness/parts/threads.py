"""Two threads against one, by pages per second.

The archive alone: the index has threads of its own, which would keep a second processor busy beside one worker.
"""

from harness import crawl, tools
from harness.process import Web
from harness.report import median, rounds


def measure(report, quick):
    # Long enough for the start and the end, which one thread does, not to count.
    size = {"hosts": 20 if quick else 100, "pages": 200 if quick else 600}
    if not tools.larm_has("--threads"):
        report.note("this larm has no --threads: TOKIO_WORKER_THREADS is used, which its other threads do not heed")
    results = rounds(1 if quick else 3, {"one": lambda: with_threads(size, 1), "two": lambda: with_threads(size, 2)})
    rate = {name: median(result.rate for result in all) for name, all in results.items()}
    for name, all in results.items():
        report.row(f"{name} thread{'s' if name == 'two' else ''}", rate[name], "pages/s")
        report.row("  processors kept busy by larm", median(result.cost.cpu / result.cost.wall for result in all))
    report.bar("pages/s: two threads / one", rate["two"] / rate["one"], at_least=1.7, by_clock=True)


def with_threads(size, threads):
    if tools.larm_has("--threads"):
        return crawl.larm(Web(**size), "--threads", threads, *crawl.ARCHIVE_ALONE)
    return crawl.larm(Web(**size), *crawl.ARCHIVE_ALONE, env={"TOKIO_WORKER_THREADS": str(threads)})
