"""The wheel, in an environment with its runtime dependencies alone, does the main line."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import venv
import zipfile
from email.parser import Parser
from pathlib import Path
from typing import NamedTuple

import pytest

import serialpack

ROOT = Path(__file__).parents[2]

# Under xdist, one process makes the wheel and its environment and runs all tests on them.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("wheel")]

DATA = b"".join(b'{"id": %d, "name": "Jane Roe"}\n' % n for n in range(5000))


class Installed(NamedTuple):
    """An environment that holds the wheel and what it requires, without even pip."""

    wheel: Path
    bin: Path

    def run(self, *args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run the installed command in ``cwd``, outside the repository."""
        env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "SERIALPACK"))}
        return subprocess.run(
            [self.bin / "serialpack", *args],
            cwd=cwd,
            env=env,
            capture_output=True,
            text=True,
            encoding="utf-8",
            stdin=subprocess.DEVNULL,
        )


def pip(*args: str | Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", *args],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("wheel")
    # With the build backend at hand, building needs no network.
    at_hand = importlib.util.find_spec("hatchling") is not None
    isolation = ["--no-build-isolation"] if at_hand else []
    pip("wheel", "--no-deps", *isolation, "-w", folder / "dist", ROOT)
    (wheel,) = (folder / "dist").glob("*.whl")
    venv.create(folder / "env", symlinks=os.name != "nt")
    scripts = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
    # What is run compiles itself.
    pinned = ("--no-compile", "-c", ROOT / "constraints.txt")
    pip("--python", scripts / "python", "install", *pinned, wheel)
    return Installed(wheel, scripts)


def test_wheel_holds_the_package_and_nothing_else(installed: Installed) -> None:
    """Every file of serialpack/ (py.typed and data files too), no tests, no benchmarks."""
    with zipfile.ZipFile(installed.wheel) as wheel:
        names = {n for n in wheel.namelist() if n.startswith("serialpack/")}
        others = {n.split("/")[0] for n in wheel.namelist()} - {"serialpack"}
    package = ROOT / "serialpack"
    files = {
        p.relative_to(ROOT).as_posix()
        for p in package.rglob("*")
        if p.is_file() and p.suffix != ".pyc"
    }
    assert "serialpack/py.typed" in names
    assert names == files
    stem = f"serialpack-{serialpack.__version__}"
    assert others == {f"{stem}.data", f"{stem}.dist-info"}


def test_manual_pages_and_completions_are_installed(installed: Installed) -> None:
    """Each stands where man and its shell look for it."""
    share = installed.bin.parent / "share"
    pages = {p.name: f"man/man{p.suffix[1:]}/{p.name}" for p in (ROOT / "man").iterdir()}
    shells = {
        "_serialpack": "zsh/site-functions/_serialpack",
        "serialpack.bash": "bash-completion/completions/serialpack",
        "serialpack.fish": "fish/vendor_completions.d/serialpack.fish",
    }
    assert {p.name for p in (ROOT / "completions").iterdir()} == set(shells)
    assert "spk.5" in pages
    for name, place in (pages | shells).items():
        (source,) = [p for f in ("man", "completions") for p in (ROOT / f).glob(name)]
        assert (share / place).read_bytes() == source.read_bytes()


def test_metadata(installed: Installed) -> None:
    """Name, version, licence and least Python are as the project says."""
    info = f"serialpack-{serialpack.__version__}.dist-info"
    with zipfile.ZipFile(installed.wheel) as wheel:
        meta = Parser().parsestr(wheel.read(f"{info}/METADATA").decode())
        assert f"{info}/licenses/LICENSE" in wheel.namelist()
    assert meta["Version"] == serialpack.__version__
    assert meta["License-Expression"] == "BSD-3-Clause"
    assert meta["Requires-Python"] == ">=3.11"


def test_environment_holds_no_extra(installed: Installed) -> None:
    """What follows is proved with the runtime dependencies alone."""
    code = (
        "import json, importlib.metadata as m;"
        "print(json.dumps([d.metadata['Name'].lower() for d in m.distributions()]))"
    )
    done = subprocess.run([installed.bin / "python", "-I", "-c", code], stdout=subprocess.PIPE)
    names = set(json.loads(done.stdout))
    assert {"serialpack", "zstandard", "numpy"} <= names
    assert not names & {"pip", "lz4", "brotli", "cramjam", "lzallright", "pytest", "hypothesis"}


def test_version(installed: Installed, tmp_path: Path) -> None:
    done = installed.run("--version", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"serialpack {serialpack.__version__}\n"


@pytest.mark.parametrize(
    "stages",
    [
        (),
        ("-s", "raw", "-c", "zstd:19"),
        ("-s", "json", "-c", "xz"),
        ("-s", "ujson", "-c", "zlib"),
        ("-s", "msgpack", "-c", "bz2"),
        ("-s", "msgpack", "--filter", "bitshuffle:4", "-c", "blosc-zstd:1"),
        ("--filter", "shuffle:8", "-c", "none"),
    ],
    ids=" ".join,
)
def test_main_line(installed: Installed, tmp_path: Path, stages: tuple[str, ...]) -> None:
    """Pack, inspect, unpack: the very same bytes."""
    (tmp_path / "data.ndjson").write_bytes(DATA)
    for args in (
        ("pack", *stages, "data.ndjson"),
        ("inspect", "data.ndjson.spk"),
        ("unpack", "data.ndjson.spk", "-o", "again"),
    ):
        done = installed.run(*args, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "again").read_bytes() == DATA


@pytest.mark.parametrize("codec", ["lz4", "lzo", "snappy", "brotli"])
def test_a_missing_extra_is_one_line(installed: Installed, tmp_path: Path, codec: str) -> None:
    """Exit 1, one line that says what to install, and nothing written."""
    (tmp_path / "data.ndjson").write_bytes(DATA)
    done = installed.run("pack", "-c", codec, "data.ndjson", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert f"serialpack[{codec}]" in line
    assert [p.name for p in tmp_path.iterdir()] == ["data.ndjson"]


def test_missing_extras_are_listed(installed: Installed, tmp_path: Path) -> None:
    """``inspect --stages`` shows the absent stages too, and how to get them."""
    done = installed.run("inspect", "--stages", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for codec in ("lz4", "lzo", "snappy", "brotli"):
        assert f"serialpack[{codec}]" in done.stdout
