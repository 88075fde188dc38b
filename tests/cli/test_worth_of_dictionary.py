"""What a shared dictionary is worth, where it takes more than it saves."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run
from tests.cli.test_dictionaries import record, size_of


def made(folder: Path, count: int) -> None:
    folder.mkdir()
    for number in range(count):
        (folder / f"{number}.json").write_bytes(record(number))


def test_a_dictionary_that_takes_more_than_it_saves_is_told(run: Run, tmp_path: Path) -> None:
    """With few files a folder may be larger with it than without."""
    told = "takes more than that itself; it pays for more files of the kind"
    made(tmp_path / "few", 60)
    pack = ("pack", "-r", "few", "--shared-dict", "few.dict", "-o")
    assert f"few.dict: {told}" in run(*pack, "out").stderr.decode()
    run("pack", "-r", "few", "-o", "plain")
    whole = size_of(tmp_path / "out") + (tmp_path / "few.dict").stat().st_size
    assert whole > size_of(tmp_path / "plain")
    # Who names it again has it, and may have had it from others.
    assert told not in run(*pack, "again").stderr.decode()


def test_one_that_pays_is_not(run: Run, tmp_path: Path) -> None:
    made(tmp_path / "many", 1500)
    said = run("pack", "-r", "many", "-o", "out", "--shared-dict", "many.dict").stderr.decode()
    assert "many.dict: used for 1,500 of 1,500 files" in said
    assert "takes more" not in said
