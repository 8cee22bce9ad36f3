"""Processor time per page: a whole crawl against the least that fetching and keeping can cost."""

from harness import crawl
from harness.crawl import ARCHIVE_ALONE
from harness.process import Web
from harness.report import median, rounds


def measure(report, quick):
    size = {"hosts": 20 if quick else 100, "pages": 200}
    results = rounds(
        1 if quick else 3,
        {
            "fetch": lambda: crawl.floor(Web(**size), "fetch"),
            "links": lambda: crawl.floor(Web(**size), "links"),
            "floor": lambda: crawl.floor(Web(**size), "warc"),
            "archive": lambda: crawl.larm(Web(**size), *ARCHIVE_ALONE),
            "larm": lambda: crawl.larm(Web(**size)),
            "floor_gzip": lambda: crawl.floor(Web(gzip=True, **size), "warc"),
            "archive_gzip": lambda: crawl.larm(Web(gzip=True, **size), *ARCHIVE_ALONE),
            "larm_gzip": lambda: crawl.larm(Web(gzip=True, **size)),
        },
    )
    cpu = {name: median(result.cpu for result in all) for name, all in results.items()}
    unit = "CPU-s / 1,000 pages"
    report.row("floor: hyper fetch", cpu["fetch"], unit)
    report.row("floor: + link scan", cpu["links"], unit)
    report.row("floor: + WARC, libdeflate -1", cpu["floor"], unit)
    report.row(f"larm, archive alone ({' '.join(ARCHIVE_ALONE)})", cpu["archive"], unit)
    report.row("larm, everything: text, duplicates, links, index", cpu["larm"], unit)
    report.row("floor, gzip answers: inflate + links + WARC as they came", cpu["floor_gzip"], unit)
    report.row("larm, archive alone, gzip answers", cpu["archive_gzip"], unit)
    report.row("larm, everything, gzip answers", cpu["larm_gzip"], unit)
    report.row("larm, everything", median(result.rate for result in results["larm"]), "pages/s")
    report.row("larm, everything, peak memory", median(result.cost.rss_mb for result in results["larm"]), "MB")
    server = results["larm"][0].ledger
    report.row("the server itself", (server["user"] + server["sys"]) * 1000 / server["pages"], unit)
    report.row("pages asked for more than once", server["repeated"])
    report.raw("cpu", {name: [result.cpu for result in all] for name, all in results.items()})
    report.bar("CPU per page: larm, archive alone / floor", cpu["archive"] / cpu["floor"], at_most=1.3)
    report.bar("CPU per page: larm, everything / floor", cpu["larm"] / cpu["floor"], at_most=1.8)
    report.bar("CPU per page: archive alone, gzip answers / plain", cpu["archive_gzip"] / cpu["archive"], at_most=0.75)
