"""A million pages on 5,000 hosts: memory over time, and a kill -9 in the middle.

Pages are of 12 KB, so that the archive is small; they have as many links as ever, and smaller ones have so few other words
that they are near-duplicates. What is asked for
twice after the kill is what was not yet durable, at most one group commit and what was in flight.
"""

import shutil
import time

from harness import crawl, process, tools
from harness.process import Web
from harness.report import median

SAMPLE_SECONDS = 0.5
DISK_BYTES = 12 * 2**30
# Caches fill, and drafts of the index come and go; what must not be is more with every page.
GROWTH_MAX = 1.2
# A merge, a checkpoint and the sorting of a full archive file's index may come together.
PEAK_MAX = 1.6
MEMORY_MB_MAX = 500
REPEATED_MAX = 5_000


def measure(report, quick):
    web = Web(hosts=500 if quick else 5_000, pages=20 if quick else 200, bytes=12_000)
    directory = tools.scratch("million") / "million.larm"
    if not quick and shutil.disk_usage(tools.OUT).free < DISK_BYTES:
        raise tools.Failure(f"{tools.OUT} has less than {DISK_BYTES >> 30} GB free")
    with web:
        first = process.Child(crawl.larm_argv(web, directory), sample_every=SAMPLE_SECONDS)
        web.wait_for(lambda ledger: ledger["pages"] >= web.size // 2, 0.05, first)
        first.kill()
        before = first.finish()
        asked = web.count()["requests"]
        second = process.Child(crawl.larm_argv(web, directory), sample_every=SAMPLE_SECONDS)
        begin = time.monotonic()
        web.wait_for(lambda ledger: ledger["requests"] > asked, 0.01, second)
        resumed = time.monotonic() - begin
        after = second.finish()
    tell(report, web, before, after, resumed, crawl.summary(directory))
    if not quick:
        tell_growth(report, before, after)
    shutil.rmtree(directory)


def tell(report, web, before, after, resumed, summary):
    rss = [mb for cost in (before, after) for _, mb in cost.samples]
    seconds, cpu = before.wall + after.wall, before.cpu + after.cpu
    report.raw("rss_mb", {"before_kill": before.samples, "after": after.samples})
    report.row("pages", web.ledger["pages"])
    report.row("hosts", web.hosts)
    report.row("speed, the kill and the rest included", web.ledger["pages"] / seconds, "pages/s")
    report.row("processor time", cpu * 1000 / web.ledger["pages"], "CPU-s / 1,000 pages")
    report.row("resident memory, median", median(rss), "MB")
    report.row("resident memory, peak", max(before.rss_mb, after.rss_mb), "MB")
    for share in (25, 50, 75, 100):
        report.row(f"  before the kill, at {share} % of the time", at(before.samples, share), "MB")
    report.row("kill -9 at half: process start to first request", resumed, "s")
    report.row("pages asked for again after it", web.ledger["repeated"])
    report.bar("million: pages asked for / pages", web.ledger["pages"] / web.size, at_least=1.0)
    report.bar("million: fetched by larm's own account / pages", summary["fetched"] / web.size, at_least=1.0)
    report.bar("million: peak memory, MB", max(before.rss_mb, after.rss_mb), at_most=MEMORY_MB_MAX)
    report.bar("million: pages asked for twice", web.ledger["repeated"], at_most=REPEATED_MAX)


def tell_growth(report, before, after):
    """The kill comes after half a million pages, so a fifth of the way there is a hundred thousand."""
    early = at(before.samples, 20)
    later = before.samples[len(before.samples) // 5 :] + after.samples[len(after.samples) // 10 :]
    report.row("resident memory at 100,000 pages", early, "MB")
    report.bar("million: memory, median after 100,000 pages / then", median(mb for _, mb in later) / early, at_most=GROWTH_MAX)
    report.bar("million: memory, most ever / at 100,000 pages", max(before.rss_mb, after.rss_mb) / early, at_most=PEAK_MAX)


def at(samples, share):
    """Memory after this share of the time; the mean of five seconds, since drafts of the index come and go."""
    end = max(len(samples) * share // 100, 1)
    few = samples[max(end - 10, 0) : end]
    return sum(mb for _, mb in few) / len(few)
