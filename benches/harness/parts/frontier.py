"""Frontier and seen set by themselves: larm's own benches, held against the frontier's bars."""

import json

from harness import process, tools

MILLION = 1_000_000
LINKS_A_PAGE = 70
MEMORY_MB_MAX = 300


def measure(report, quick):
    share = 100 if quick else 1
    offers(report, 100 * MILLION // share, 15 * MILLION // share, MILLION // share)
    distinct(report, 30 * MILLION // share, MILLION // share)
    pages(report, MILLION // 5 // share, 10_000 // share)
    words = [10 * MILLION // share, MILLION * 3 // 2 // share]
    report.note(f"sieve:\n```\n{bench(report, 'sieve', words).strip()}\n```")


def offers(report, offered, known, hosts):
    """Links as pages have them: most were offered before. Then the time to go on with what is known."""
    what = f"{offered:,} links offered, {known:,} of them different, {hosts:,} hosts"
    total, opened = totals(
        frontier(report, "offer", "--offered", offered, "--distinct", known, "--hosts", hosts)
    )
    show(report, what, total)
    report.row(f"{known:,} known URLs, opened again", opened["wall_s"], "s")
    report.bar("frontier: links offered per second", total["per_second"], at_least=500_000, by_clock=True)
    report.bar("frontier: opened again, seconds", opened["wall_s"], at_most=5, by_clock=True)


def distinct(report, offered, hosts):
    """The worst for memory: every link is new, and each is for another host than the one before."""
    what = f"{offered:,} links offered, all different, {hosts:,} hosts alike"
    words = ["offer", "--offered", offered, "--distinct", offered, "--hosts", hosts, "--uniform", 1]
    total, _ = totals(frontier(report, *words))
    show(report, what, total)
    report.bar("frontier: peak memory with all links different, MB", total["peak_mb"], at_most=MEMORY_MB_MAX)
    report.note(f"a hundred million, which takes ten minutes: `{' '.join(map(str, words))}` with more noughts")


def pages(report, count, hosts):
    total, _ = totals(frontier(report, "pages", "--pages", count, "--links", LINKS_A_PAGE, "--hosts", hosts))
    show(report, f"{count:,} pages with {LINKS_A_PAGE} links leased and settled, {hosts:,} hosts", total)
    report.bar("frontier: offer, lease and settle of a page, µs of CPU", total["us"], at_most=50)


def totals(lines):
    """What a run came to, and what opening its state again took."""
    return next(line for line in lines if "total" in line), lines[-1]


def show(report, what, line):
    for name in ("us", "per_second", "longest_ms", "gather_ms", "rss_mb", "peak_mb", "disk_mb"):
        report.row(f"{what}: {name}", line[name])


def frontier(report, *words):
    lines = [line for line in bench(report, "frontier", words).splitlines() if line.startswith("{")]
    if not lines:
        raise tools.Failure("the bench of the frontier printed no figures")
    return [json.loads(line) for line in lines]


def bench(report, name, words):
    words = [str(word) for word in words]
    cost = process.run(["cargo", "bench", "-q", "-p", "larm-crawl", "--bench", name, "--", *words], cwd=tools.ROOT)
    if cost.code != 0:
        raise tools.Failure(f"bench {name}: exit code {cost.code}\n{cost.output[-800:]}")
    report.raw(" ".join([name, *words]), cost.output)
    return cost.output
