"""What each thing that larm does costs: everything, then with one of them switched off.

Pacing, the frontier on disk, the seen set, digests and the crawl log have no switch.
"""

from harness import crawl
from harness.process import Web
from harness.report import median, rounds

WITHOUT = {
    "without the index (--no-index)": ["--no-index"],
    "without near-duplicates (--duplicates off)": ["--duplicates", "off"],
    "without learning which URLs bring nothing (--pattern-budget off)": ["--pattern-budget", "off"],
    "without the archive (--warc none)": ["--warc", "none"],
    "without the list of pages (--no-pages)": ["--no-pages"],
    "without the log of links (--no-links)": ["--no-links"],
    "without robots.txt (--ignore-robots)": ["--ignore-robots", "--i-own-this-site"],
}


def measure(report, quick):
    size = {"hosts": 20 if quick else 100, "pages": 200}
    settings = {"everything": [], **WITHOUT}
    results = rounds(1 if quick else 3, {name: runner(size, flags) for name, flags in settings.items()})
    cpu = {name: median(result.cpu for result in all) for name, all in results.items()}
    for name, figure in cpu.items():
        report.row(name, figure, "CPU-s / 1,000 pages")
    report.note("no switch: pacing, frontier, seen set, digests, crawl log")


def runner(size, flags):
    return lambda: crawl.larm(Web(**size), *flags)
