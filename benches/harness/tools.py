"""Finding and building what is run. What is missing is said, with the way to get it."""

import functools
import os
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "benches" / "out"
PORT = int(os.environ.get("LARM_BENCH_PORT", "8099"))


class Failure(Exception):
    """Ends one part; the others go on."""


class Missing(Failure):
    """Something is not installed; the message says how to get it."""


def target(name=""):
    """Cargo's directory for a package, below the one that the environment names."""
    base = os.environ.get("CARGO_TARGET_DIR")
    return pathlib.Path(base).resolve() / name if base else None


def cargo(*words, cwd=ROOT, target_dir=None):
    if shutil.which("cargo") is None:
        raise Missing("cargo: get it from https://rustup.rs")
    if shutil.which("cc") is None:
        raise Missing("a C compiler: apt install gcc")
    env = dict(os.environ)
    if target_dir:
        env["CARGO_TARGET_DIR"] = str(target_dir)
    print("  $ cargo", *words, flush=True)
    subprocess.run(["cargo", *words], cwd=cwd, env=env, check=True)


@functools.cache
def larm():
    """The binary of `LARM`, or one built from this tree."""
    named = os.environ.get("LARM")
    if named:
        return pathlib.Path(named).resolve()
    cargo("build", "--release", "--bin", "larm")
    return (target() or ROOT / "target") / "release" / "larm"


@functools.cache
def package(place, name):
    """The release directory of a package below benches, built."""
    cwd, directory = ROOT / "benches" / place, target(name)
    cargo("build", "--release", "--locked", cwd=cwd, target_dir=directory)
    return (directory or cwd / "target") / "release"


def kit(binary):
    return package("kit", "kit") / binary


def scratch(name, fresh=True):
    """A directory for what a run leaves behind; empty unless said otherwise."""
    path = OUT / "scratch" / name
    if fresh:
        shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True, exist_ok=True)
    return path


@functools.cache
def larm_has(flag):
    """Whether `larm crawl` knows a flag."""
    page = subprocess.run([larm(), "crawl", "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return flag in page.split()
