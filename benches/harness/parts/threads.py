"""Two threads against one, by pages per second; and what the machine allows, by the floor on as many.

The archive alone: the index has threads of its own, which would keep a second processor busy beside one worker.

The server works on the same two processors. Of pages of 28 KB it takes a tenth of both, so nobody can be 1.8 times as fast with
two threads; what counts there is what larm gains of that. Of large pages it takes half as much, and is not the limit.
"""

from harness import crawl, tools
from harness.process import Web
from harness.report import median, rounds

COUNTS = {"one thread": 1, "two threads": 2}
# Long enough for the start and the end, which one thread does, not to count: a sixth of a second together.
LARGE = {"hosts": 100, "pages": 400, "bytes": 100_000}
USUAL = {"hosts": 100, "pages": 1_500}


def measure(report, quick):
    if not tools.larm_has("--threads"):
        report.note("this larm has no --threads: TOKIO_WORKER_THREADS is used, which its other threads do not heed")
    gain, _ = gains(report, quick, "100 KB", LARGE)
    report.bar("pages/s, pages of 100 KB: two threads / one", gain, at_least=1.7, by_clock=True)
    gain, allowed = gains(report, quick, "28 KB", USUAL)
    report.row("28 KB: larm, two threads / one", gain)
    report.bar("pages/s, pages of 28 KB: two threads / one, larm's gain / the floor's", gain / allowed, at_least=0.93, by_clock=True)


def gains(report, quick, name, size):
    """How many times as fast two threads are as one: larm, and the floor."""
    size = {**size, "hosts": 20, "pages": 200} if quick else size
    floors = {f"floor, {count}": lambda n=n: crawl.floor(Web(**size), "warc", "--threads", n) for count, n in COUNTS.items()}
    larms = {f"larm, {count}": lambda n=n: with_threads(size, n) for count, n in COUNTS.items()}
    results = rounds(1 if quick else 3, {**floors, **larms})
    rate = {key: median(result.rate for result in all) for key, all in results.items()}
    for key, all in results.items():
        report.row(f"{name}: {key}", rate[key], "pages/s")
        report.row("  processors that it kept busy", median(result.cost.cpu / result.cost.wall for result in all))
        report.row("  and the server", median(map(of_server, all)))
    allowed = rate["floor, two threads"] / rate["floor, one thread"]
    report.row(f"{name}: floor, two threads / one", allowed)
    return rate["larm, two threads"] / rate["larm, one thread"], allowed


def of_server(result):
    return (result.ledger["user"] + result.ledger["sys"]) / result.cost.wall


def with_threads(size, threads):
    if tools.larm_has("--threads"):
        return crawl.larm(Web(**size), "--threads", threads, *crawl.ARCHIVE_ALONE)
    return crawl.larm(Web(**size), *crawl.ARCHIVE_ALONE, env={"TOKIO_WORKER_THREADS": str(threads)})
