"""Frontier and seen set by themselves: larm's own benches, as they print."""

from harness import process, tools

BENCHES = {"frontier": [], "sieve": []}
QUICK = {"frontier": ["100_000"], "sieve": ["1_000_000", "150_000"]}


def measure(report, quick):
    for name in BENCHES:
        if not (tools.ROOT / f"crates/crawl/benches/{name}.rs").exists():
            report.note(f"not measured: there is no bench `{name}` of larm-crawl yet")
            continue
        words = (QUICK if quick else BENCHES)[name]
        cost = process.run(["cargo", "bench", "-q", "-p", "larm-crawl", "--bench", name, "--", *words], cwd=tools.ROOT)
        if cost.code != 0:
            raise tools.Failure(f"bench {name}: exit code {cost.code}\n{cost.output[-800:]}")
        report.raw(name, cost.output)
        report.note(f"{name}:\n```\n{cost.output.strip()}\n```")
