"""One crawl of the synthetic web, by larm or by the floor."""

import dataclasses
import json
import shutil

from harness import process, tools


# What a crawl is without what is made of its pages: robots.txt, pacing, the frontier on disk, the seen set, digests,
# archive, CDXJ, pages and the log stay.
ARCHIVE_ALONE = ["--no-index", "--no-links", "--duplicates", "off", "--pattern-budget", "off"]


@dataclasses.dataclass
class Result:
    """What a crawl came to."""

    cost: process.Cost
    pages: int
    """Pages that the web was asked for, each counted once."""
    ledger: dict

    @property
    def cpu(self):
        """Seconds of processor time for 1,000 pages."""
        return self.cost.cpu * 1000 / max(self.pages, 1)

    @property
    def rate(self):
        """Pages per second."""
        return self.pages / self.cost.wall


def larm_argv(web, directory, *flags):
    # Near-duplicates are looked for as always. In a large synthetic web there are some by chance, and here every
    # page has to be asked for: their links are followed.
    duplicates = [] if "--duplicates" in flags else ["--duplicates", "mark"]
    return [
        tools.larm(), "crawl", "-i", web.seeds, "-o", directory, "--delay", "0", "--no-progress", "-q",
        "--allow-private", "127.0.0.0/8", *duplicates, *flags,
    ]  # fmt: skip


def larm(web, *flags, env=None):
    """A whole crawl with all that larm does by itself, into a directory that is thrown away."""
    directory = tools.scratch("crawl") / "bench.larm"
    with web:
        cost = process.run(larm_argv(web, directory, *flags), env=env)
    shutil.rmtree(directory, ignore_errors=True)
    return checked("larm", web, cost)


def floor(web, mode, *flags):
    output = tools.scratch("floor") / "floor.warc.gz"
    with web:
        cost = process.run([tools.kit("floor"), mode, *web.spec, "--output", output, *flags])
    output.unlink(missing_ok=True)
    return checked(f"floor {mode}", web, cost)


def checked(name, web, cost):
    """A crawl that misses pages is no measurement of a crawl."""
    pages = web.ledger["pages"]
    if cost.code != 0 or pages != web.size:
        end = cost.output.strip()[-400:]
        raise tools.Failure(f"{name}: exit code {cost.code}, {pages} of {web.size} pages\n{end}")
    if web.gzip and web.ledger["gzipped"] < pages:
        raise tools.Failure(f"{name}: did not take gzip, {web.ledger}")
    return Result(cost, pages, web.ledger)


def summary(directory):
    """larm's own account of a crawl."""
    return json.loads((directory / "summary.json").read_text())
