"""Frontier and seen set by themselves: larm's own benches, with what they print."""

import json

from harness import process, tools

MILLION = 1_000_000


def measure(report, quick):
    share = 20 if quick else 1
    if exists(report, "frontier"):
        offers(report, 10 * MILLION // share)
        pages(report, MILLION // 5 // share)
        opening(report, 10 * MILLION // share)
    if exists(report, "sieve"):
        words = [10 * MILLION // share, MILLION * 3 // 2 // share]
        report.note(f"sieve:\n```\n{bench(report, 'sieve', words).strip()}\n```")


def exists(report, name):
    found = (tools.ROOT / f"crates/crawl/benches/{name}.rs").exists()
    if not found:
        report.note(f"not measured: larm-crawl has no bench `{name}`")
    return found


def offers(report, offered):
    last = frontier(report, "offer", "--offered", offered, "--hosts", offered // 100)[-1]
    show(report, f"{offered:,} links offered, last tenth", last)


def pages(report, count):
    last = frontier(report, "pages", "--pages", count, "--hosts", count // 100)[-1]
    show(report, f"{count:,} pages leased and settled, last tenth", last)


def opening(report, known):
    """How long going on takes with so many known URLs."""
    directory = tools.scratch("frontier") / "state"
    frontier(report, "offer", "--offered", known * 5 // 4, "--distinct", known, "--hosts", known // 100, "--dir", directory)
    opened = frontier(report, "open", directory)[-1]
    report.row(f"opening again, {opened['known']:,} known URLs", opened["wall_s"], "s")
    tools.scratch("frontier")


def show(report, what, line):
    for name, figure in line.items():
        if isinstance(figure, (int, float)):
            report.row(f"{what}: {name}", figure)


def frontier(report, *words):
    lines = [line for line in bench(report, "frontier", words).splitlines() if line.startswith("{")]
    if not lines:
        raise tools.Failure("the bench of the frontier printed no figures")
    return [json.loads(line) for line in lines]


def bench(report, name, words):
    cost = process.run(["cargo", "bench", "-q", "-p", "larm-crawl", "--bench", name, "--", *words], cwd=tools.ROOT)
    if cost.code != 0:
        raise tools.Failure(f"bench {name}: exit code {cost.code}\n{cost.output[-800:]}")
    report.raw(" ".join([name, *(str(word) for word in words if not hasattr(word, "parts"))]), cost.output)
    return cost.output
