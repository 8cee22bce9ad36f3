"""A web that answers after 50 ms: does larm keep its connections as busy as a bare loop does?

The number of connections is such that the web is the limit, not the processor: with so many no
client can have more than connections / 50 ms.
"""

from harness import crawl
from harness.process import Web
from harness.report import median, rounds

LATENCY_MS = 50
CONNECTIONS = 64


def measure(report, quick):
    size = {"hosts": 500, "pages": 10 if quick else 40, "latency_ms": LATENCY_MS}
    results = rounds(
        1 if quick else 3,
        {
            "loop": lambda: crawl.floor(Web(**size), "fetch", "--connections", CONNECTIONS),
            "larm": lambda: crawl.larm(Web(**size), "--concurrency", CONNECTIONS),
        },
    )
    rate = {name: median(result.rate for result in all) for name, all in results.items()}
    report.row("no client can have more than", CONNECTIONS * 1000 / LATENCY_MS, "pages/s")
    report.row(f"bare loop, {CONNECTIONS} connections", rate["loop"], "pages/s")
    report.row(f"larm --concurrency {CONNECTIONS}", rate["larm"], "pages/s")
    report.note("larm asks for 500 robots.txt besides, which are not counted as pages")
    report.bar("pages/s at 50 ms: larm / bare loop", rate["larm"] / rate["loop"], at_least=0.9, by_clock=True)
