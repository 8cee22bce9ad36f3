"""Other crawlers on the same web: no delay, robots.txt respected, each host crawled from its `/`.

spider and Scrapy keep nothing; wget, wget2 and HTTrack keep files. larm does all that it does by itself,
with its archive.
"""

import shutil
import subprocess
import sys

from harness import crawl, process, tools
from harness.process import Web
from harness.report import median, rounds

AT_A_TIME = 32
# One that finds less did another work.
COVERAGE_MIN = 0.95
LARM = "larm (whole crawl)"


def measure(report, quick):
    hosts = 10 if quick else 100
    cpu = contest(report, "spider (crawl only)", spider, hosts, 1 if quick else 3)
    for name, argv, share in [("wget", wget, 1), ("wget2", wget2, 1), ("HTTrack", httrack, 1), ("Scrapy", scrapy, 10)]:
        try:
            cpu |= contest(report, name, argv, max(hosts // share, 2), 1, with_larm=False)
        except tools.Failure as failure:
            report.note(f"not measured: {failure}")
    larm = cpu.pop(LARM)
    fastest = min(cpu, key=cpu.get)
    report.bar(f"CPU per page: larm, whole / the fastest peer, {fastest}", larm / cpu[fastest], at_most=1.0)


def contest(report, name, argv, hosts, count, with_larm=True):
    """Lets a peer run, in turn with larm if wanted; gives what each of them costs."""
    size = {"hosts": hosts, "pages": 200}
    contestants = {name: lambda: peer(Web(**size), argv)}
    if with_larm:
        contestants[LARM] = lambda: crawl.larm(Web(**size))
    results = rounds(count, contestants)
    for label, all in results.items():
        report.row(label, median(result.cpu for result in all), "CPU-s / 1,000 pages")
        report.row(f"{label}, speed", median(result.rate for result in all), "pages/s")
    ledger = results[name][0].ledger
    if ledger["pages"] != hosts * 200 or ledger["repeated"]:
        missed = hosts * 200 - ledger["pages"]
        report.note(f"{name} missed {missed:,} of {hosts * 200:,} pages, and asked {ledger['repeated']:,} times for one again")
    return {label: median(result.cpu for result in all) for label, all in results.items()}


def peer(web, argv):
    directory = tools.scratch("peer")
    words = argv(web.seeds, directory)
    with web:
        cost = process.run(words, cwd=directory, timeout=1200)
    shutil.rmtree(directory, ignore_errors=True)
    if web.ledger["pages"] < web.size * COVERAGE_MIN:
        found = f"found {web.ledger['pages']} of {web.size} pages"
        raise tools.Failure(f"{words[0]}: exit code {cost.code}, {found}\n{cost.output[-400:]}")
    return crawl.Result(cost, web.ledger["pages"], web.ledger)


def spider(seeds, _):
    return [tools.package("peers/spider", "spider") / "larm-bench-spider", seeds, AT_A_TIME]


def wget(seeds, directory):
    return [installed("wget"), "-q", "-r", "-l", 1000, "-i", seeds, "-P", directory, "-R", "png,css"]


def wget2(seeds, directory):
    threads = f"--max-threads={AT_A_TIME}"
    return [installed("wget2"), "-q", "-r", "-l", 1000, "-i", seeds, "-P", directory, "-R", "png,css", threads]


def httrack(seeds, directory):
    speed = ["--disable-security-limits", "--max-rate=0", "--connection-per-second=0", f"--sockets={AT_A_TIME}"]
    return [installed("httrack"), "--list", seeds, "-O", directory, "-q", "-I0", "--robots=2", *speed, "-*.png", "-*.css"]


def scrapy(seeds, _):
    python = tools.OUT / "venv" / "bin" / "python"
    if not python.exists():
        venv = subprocess.run([sys.executable, "-m", "venv", python.parents[1]])
        pip = venv.returncode or subprocess.run([python, "-m", "pip", "install", "-q", "scrapy"]).returncode
        if pip:
            shutil.rmtree(python.parents[1], ignore_errors=True)
            raise tools.Missing("Scrapy: needs python3 with venv and pip (apt install python3-venv), and PyPI")
    return [python, tools.ROOT / "benches/peers/scrapy/crawl.py", seeds, AT_A_TIME]


def installed(name):
    found = shutil.which(name)
    if found is None:
        raise tools.Missing(f"{name}: apt install {name}")
    return found
