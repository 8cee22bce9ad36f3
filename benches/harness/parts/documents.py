"""Processor time per page on real pages, against the floor on the same.

Each directory that `LARM_BENCH_DOCUMENTS` names is a site, served under as many addresses as give about as many pages
as the synthetic web has. So each page has near-copies, which are marked and followed.

The floor is the one of the other parts, on one thread, which is the cheapest way to work; and once more on as many as larm
has, since these hosts are few, and threads that wait for each other, and for the server, cost both of them.
"""

import os
import pathlib

from harness import crawl, tools
from harness.crawl import ARCHIVE_ALONE
from harness.process import Web
from harness.report import median, rounds

PAGES = 20_000


def measure(report, quick):
    named = os.environ.get("LARM_BENCH_DOCUMENTS")
    if not named:
        raise tools.Missing("LARM_BENCH_DOCUMENTS: directories with .html files, such as apt's postgresql-doc")
    for directory in named.split(":"):
        site(report, quick, pathlib.Path(directory).resolve())


def site(report, quick, directory):
    sizes = [path.stat().st_size for path in directory.rglob("*.html")]
    if not sizes:
        raise tools.Failure(f"{directory}: no .html file")
    hosts = 1 if quick else max(PAGES // len(sizes), 1)
    size = {"hosts": hosts, "pages": len(sizes) + 1, "files": directory}
    results = rounds(
        1 if quick else 3,
        {
            "floor": lambda: crawl.floor(Web(**size), "warc"),
            "floor, as many threads as larm": lambda: crawl.floor(Web(**size), "warc", "--threads", os.cpu_count()),
            "larm, archive alone": lambda: crawl.larm(Web(**size), *ARCHIVE_ALONE),
            "larm, everything": lambda: crawl.larm(Web(**size)),
        },
    )
    cpu = {name: median(result.cpu for result in all) for name, all in results.items()}
    report.row(f"{directory.name}: {len(sizes)} pages, {hosts} times, mean size", sum(sizes) / len(sizes) / 1024, "KiB")
    for name, figure in cpu.items():
        report.row(f"  {name}", figure, "CPU-s / 1,000 pages")
        report.row("    times the floor", figure / cpu["floor"])
    threads = "floor, as many threads as larm"
    report.row("  larm, archive alone, times the floor on as many threads", cpu["larm, archive alone"] / cpu[threads])
    ledger = results["larm, everything"][0].ledger
    report.row("  requests of larm for a page", ledger["requests"] / ledger["pages"])
