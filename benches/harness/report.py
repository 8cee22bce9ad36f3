"""Rows, bars and the table. A bar is a ratio of figures from the same run, or a count."""

import datetime
import json
import os
import pathlib
import platform
import statistics
import subprocess

from harness import tools


class Report:
    """Grows while the parts run; is printed and written at the end."""

    def __init__(self, quick):
        self.quick = quick
        self.machine = machine()
        self.parts = {}
        self.part = None

    def begin(self, part):
        self.part = self.parts[part] = {"rows": [], "bars": [], "notes": [], "raw": {}}
        print(f"\n## {part}", flush=True)

    def row(self, what, figure, unit=""):
        self.part["rows"].append({"what": what, "figure": figure, "unit": unit})
        print(f"  {what:<58} {show(figure):>12} {unit}", flush=True)

    def note(self, text):
        self.part["notes"].append(text)
        print(f"  note: {text}", flush=True)

    def raw(self, name, value):
        """Kept in the JSON only."""
        self.part["raw"][name] = value

    def bar(self, what, figure, at_most=None, at_least=None):
        """What must hold."""
        met = figure <= at_most if at_least is None else figure >= at_least
        limit = f"≤ {at_most}" if at_least is None else f"≥ {at_least}"
        self.part["bars"].append({"what": what, "figure": figure, "limit": limit, "met": bool(met)})
        print(f"  {'PASS' if met else 'FAIL'}  {what}: {show(figure)} ({limit})", flush=True)

    def failed(self, error):
        """The part could not be measured: its bars are not met."""
        self.part["bars"].append({"what": str(error), "figure": None, "limit": "", "met": False})
        print(f"  FAIL  {error}", flush=True)

    @property
    def bars(self):
        return [bar for part in self.parts.values() for bar in part["bars"]]

    def write(self):
        tools.OUT.mkdir(parents=True, exist_ok=True)
        (tools.OUT / "table.md").write_text(self.markdown())
        whole = {"quick": self.quick, "machine": self.machine, "parts": self.parts}
        (tools.OUT / "figures.json").write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n")

    def markdown(self):
        about = self.machine
        lines = [
            f"{about['date']}, {about['cpus']} × {about['cpu']}, {about['memory_gb']} GB, {about['kernel']}, "
            f"{about['rustc']}, load {about['load']} at the start" + (", quick" if self.quick else ""),
            "",
            "| bar | figure | limit | |",
            "|---|---|---|---|",
        ]
        for bar in self.bars:
            lines.append(f"| {bar['what']} | {show(bar['figure'])} | {bar['limit']} | {'met' if bar['met'] else '**missed**'} |")
        for name, part in self.parts.items():
            lines += ["", f"### {name}", "", "| | | |", "|---|---:|---|"]
            lines += [f"| {row['what']} | {show(row['figure'])} | {row['unit']} |" for row in part["rows"]]
            lines += [f"\n{note}" for note in part["notes"]]
        return "\n".join(lines) + "\n"


def show(figure):
    if figure is None:
        return "–"
    if isinstance(figure, str):
        return figure
    if isinstance(figure, int) or figure >= 1000:
        return f"{figure:,.0f}"
    return f"{figure:.3g}" if figure < 100 else f"{figure:.0f}"


def median(values):
    return statistics.median(list(values))


def rounds(count, contestants):
    """Lets all of them run in turn, so many times: what disturbs the machine disturbs each of them."""
    results = {name: [] for name in contestants}
    for _ in range(count):
        for name, contestant in contestants.items():
            results[name].append(contestant())
    return results


def machine():
    info = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.split(":", 1)[1].strip() for line in info if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    rustc = subprocess.run(["rustc", "--version"], stdout=subprocess.PIPE, text=True).stdout.strip()
    return {
        "date": datetime.date.today().isoformat(),
        "cpu": names[0] if names else platform.machine(),
        "cpus": os.cpu_count(),
        "memory_gb": round(memory / 2**30),
        "kernel": f"Linux {platform.release()}",
        "rustc": rustc,
        "load": round(os.getloadavg()[0], 1),
    }
