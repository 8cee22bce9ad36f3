"""How soon it works: `--version`, the first request of a crawl, the first request of one that goes on."""

import shutil

from harness import crawl, process, tools
from harness.process import Web
from harness.report import median


def measure(report, quick):
    rounds = 5 if quick else 20
    version = [process.run([tools.larm(), "--version"]).wall * 1000 for _ in range(rounds)]
    report.row(f"larm --version (median of {rounds})", median(version), "ms")
    report.row("one seed: process start to first request", median(first_request(1) for _ in range(5)), "ms")
    report.row("100 seeds: process start to first request", median(first_request(100) for _ in range(5)), "ms")
    report.note("the time to go on with a large crawl is in `million` and in the bench of the frontier")


def first_request(hosts):
    web = Web(hosts=hosts, pages=5)
    directory = tools.scratch("crawl") / "bench.larm"
    with web:
        cost = process.run(crawl.larm_argv(web, directory))
    shutil.rmtree(directory, ignore_errors=True)
    crawl.checked("larm", web, cost)
    return web.ledger["first_request_epoch_ms"] - cost.started * 1000
