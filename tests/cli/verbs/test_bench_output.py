"""What bench prints, and what it says of the files that it writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

WORDS = ("bench", "--budget", "1", "-s", "raw", "-c", "zstd:3", "-c", "none")


def test_quiet_prints_no_table_and_errors_all_the_same(run: Run, sample: Path) -> None:
    done = run(*WORDS, "-q", sample)
    assert (done.stdout, done.stderr) == (b"", b"")
    assert run(*WORDS, sample).stdout
    # What programs read was asked for by its name.
    for report in (
        ("--json",),
        ("--format", "json"),
        ("--format", "csv"),
        ("--format", "markdown"),
    ):
        assert run(*WORDS, "-q", *report, sample).stdout
    assert run(*WORDS, "-q", f"{sample}.not", code=1).stderr
    run(*WORDS, "-q", "--save", "old.json", sample)
    assert run(*WORDS, "-q", "--compare", "old.json", sample).stdout == b""


@pytest.mark.parametrize("option", ["--save", "--html", "--plot"])
def test_a_file_that_is_written_is_named(
    run: Run, sample: Path, tmp_path: Path, option: str
) -> None:
    if option == "--plot":
        pytest.importorskip("matplotlib")
    path = tmp_path / "out.svg"
    done = run(*WORDS, option, path, sample)
    assert done.stderr.decode() == f"wrote {path}\n"
    assert path.stat().st_size
    path.unlink()
    assert run(*WORDS, "-q", option, path, sample).stderr == b""
    assert path.stat().st_size


@pytest.mark.parametrize(
    ("line", "said"),
    [(None, "10 MB/s"), ("100M", "100 MB/s"), ("2.5GB/s", "2500 MB/s"), ("64k", "0.064 MB/s")],
)
def test_the_line_is_what_is_named(run: Run, sample: Path, line: str | None, said: str) -> None:
    words = () if line is None else ("--line", line)
    found = json.loads(run(*WORDS, "--format", "json", *words, sample).stdout)
    (balanced,) = (each for each in found["recommendations"] if each["kind"] == "balanced")
    assert f"send at {said} (--line) and unpack" in balanced["why"]
    assert balanced["chain"] == "raw+zstd:3"


@pytest.mark.parametrize("line", ["0", "-5M", "fast", "10X", "1e400", "nan", ""])
def test_a_line_of_no_speed_is_refused(run: Run, sample: Path, line: str) -> None:
    assert b"--line" in run(*WORDS, "--line", line, sample, code=2).stderr
