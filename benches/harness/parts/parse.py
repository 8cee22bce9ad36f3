"""Instructions of the parser on real pages, against a DOM: counted by callgrind, so noise is no matter."""

import shutil

from harness import process, tools

SCRIPT = tools.ROOT / "benches" / "instructions"


def measure(report, quick):
    if not SCRIPT.exists():
        report.note("not measured: there is no benches/instructions yet")
        return
    if shutil.which("valgrind") is None:
        report.note("not measured: valgrind: apt install valgrind")
        return
    cost = process.run([SCRIPT], cwd=tools.ROOT)
    if cost.code != 0:
        raise tools.Failure(f"benches/instructions: exit code {cost.code}\n{cost.output[-800:]}")
    report.raw("instructions", cost.output)
    report.note(f"```\n{cost.output.strip()}\n```")
