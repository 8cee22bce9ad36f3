"""`--concurrency auto` against fixed settings, on a fast web, a slow one, and one that changes."""

from harness import crawl
from harness.process import Web
from harness.report import median, rounds

FIXED = [16, 64, 256]
WEBS = {
    "fast": {"hosts": 100, "pages": 200},
    "slow (50 ms)": {"hosts": 500, "pages": 40, "latency_ms": 50},
    "changing (50 ms for 4 s, fast for 4 s, …)": {"hosts": 500, "pages": 60, "latency_plan": "50ms:4s,0ms:4s"},
}


def measure(report, quick):
    for name, size in WEBS.items():
        if quick:
            size = {**size, "pages": size["pages"] // 4}
        settings = {str(fixed): fixed for fixed in FIXED} | {"auto": "auto"}
        results = rounds(1 if quick else 3, {key: runner(size, value) for key, value in settings.items()})
        rate = {key: median(result.rate for result in all) for key, all in results.items()}
        for key, figure in rate.items():
            report.row(f"{name}: --concurrency {key}", figure, "pages/s")
        best = max(rate[key] for key in rate if key != "auto")
        report.bar(f"{name}: auto / best fixed setting", rate["auto"] / best, at_least=0.85, by_clock=True)


def runner(size, setting):
    return lambda: crawl.larm(Web(**size), "--concurrency", setting)
