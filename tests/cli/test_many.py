"""Many files: one line at the end, a journal, and a second run that does what is left to do."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.docs.test_schemas import check
from tests.noise import noise


def lines(said: bytes) -> list[dict[str, Any]]:
    """Lines of JSON."""
    return [json.loads(line) for line in said.splitlines()]


@pytest.fixture
def batch(tmp_path: Path) -> Path:
    """24 files, of which one is no JSON."""
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(23):
        (folder / f"{number:02}.json").write_text(f'{{"n": {number}, "m": "{number:0200}"}}')
    (folder / "bad.json").write_text('{"n": ')
    return folder


def test_one_line_for_many(run: Run, batch: Path) -> None:
    """A line each is for -v; what failed is said always."""
    said = run("pack", "-s", "cbor", "-r", batch, "-o", "out", code=3).stderr.decode().splitlines()
    assert len(said) == 2
    assert said[0].startswith(f"serialpack: {batch}/bad.json: ")
    assert said[1].startswith("23 packed, 1 failed, 4.9 KiB -> ")
    assert said[1].endswith(" s; the failed ones are above")
    verbose = run("pack", "-v", "-f", "-r", batch, "-o", "out").stderr.decode()
    assert verbose.count(": 2") >= 23
    assert run("pack", "-q", "-f", "-r", batch, "-o", "out").stderr == b""
    few = run("pack", batch / "00.json", batch / "01.json", "-o", "few").stderr.decode()
    assert len(few.splitlines()) == 2


def test_what_changed_in_many_is_summed_up(run: Run, batch: Path) -> None:
    """And names the first, as no file has a line of its own; under -v each has."""
    (batch / "bad.json").write_text('{"n": 23, "more": [{"of": 1}], "m": ""}')
    (batch / "table.json").write_text("n,m\n1,a\n2,b\n")
    said = run("unpack", "-r", batch, "--to", "csv", "-o", "out").stderr.decode().splitlines()
    assert said[0].startswith("25 converted, ")
    assert said[1:] == [
        "  1 file: one row, --at more takes the list in it as the records; --lossy around lets go"
        f" of what stands beside it; the first is {batch}/bad.json",
        "  1 file: read as csv, by its content; --from says otherwise; the first is"
        f" {batch}/table.json",
        "  25 carried: 24 values as bare cells, 1 value as JSON text; in 24 files",
    ]
    verbose = run("unpack", "-v", "-r", batch, "--to", "csv", "-o", "verbose").stderr.decode()
    assert verbose.count("cells: 1 carried, first in record 0, $.n: ") == 24
    assert run("unpack", "-q", "-r", batch, "--to", "csv", "-o", "quiet").stderr == b""


def test_what_is_lost_in_many_is_summed_up(run: Run, batch: Path) -> None:
    for path in batch.iterdir():
        path.write_text('{"n": [1, 2], "m": 1}')
    (batch / "bad.json").write_text('{"n": [1], "m": 1}{')
    lossy = ("unpack", "-r", batch, "--to", "ndjson", "--at", "n", "--lossy", "around")
    said = run(*lossy, "-o", "out", code=3).stderr.decode().splitlines()
    assert said[0].startswith(f"serialpack: {batch}/bad.json: ")
    assert said[1].startswith("23 converted, 1 failed, ")
    assert (
        said[2:]
        == [
            f"  around: 23 changed in 23 files, first in {batch}/00.json, record 0, $.m: $.m became"
            " nothing",
            "  46 carried: 46 lines",
        ][:1]
    )
    two = ("00.json", "01.json")
    joined = run(*lossy[:1], *lossy[3:], *(batch / name for name in two), "-o", "-")
    assert joined.stdout == b"1\n2\n1\n2\n"
    assert f"around: 2 changed in 2 files, first in {batch}/00.json" in joined.stderr.decode()


def test_of_many_outputs_that_exist_twenty_are_named(run: Run, batch: Path) -> None:
    """The others are a line, which says how a batch is run again; each is in --json."""
    run("pack", "-r", batch, "-o", "out")
    said = run("pack", "-r", batch, "-o", "out", code=1).stderr.decode().splitlines()
    assert len(said) == 22
    assert sum(": exists already; -f overwrites it" in line for line in said) == 20
    assert said[20].startswith("0 packed, 24 failed, ")
    assert said[21].startswith("serialpack: 4 more outputs exist already; --skip-existing leaves")
    done = run("pack", "--json", "-v", "-r", batch, "-o", "out", code=1)
    assert len(lines(done.stdout)) == 24
    assert done.stderr.count(b": exists already") == 24
    for path in batch.iterdir():
        os.utime(path)
    done = run("pack", "-r", batch, "-o", "out", "--skip-existing", code=1)
    assert b": 4 more outputs exist already; -f overwrites them" in done.stderr


def test_a_journal_keeps_what_json_prints(run: Run, batch: Path, tmp_path: Path) -> None:
    """And inspect sums it up, of both runs: what was mended did not fail."""
    journal = batch / "journal"
    command = ("--journal", journal, "-r", batch, "-o", batch / "out")
    done = run("pack", "-s", "cbor", "--json", *command, code=3)
    first, *kept = lines(journal.read_bytes())
    assert first["serialpack_journal"] == 1
    assert kept == lines(done.stdout)
    assert len(kept) == 24
    found = json.loads(run("inspect", "--json", journal).stdout)
    check("journal", found)
    assert list(found["failed"]) == [f"{batch}/bad.json"]
    (batch / "bad.json").write_text("[1]")
    run("pack", "-s", "cbor", "--skip-existing", *command)
    with journal.open("ab") as file:
        file.write(b'{"source": "cut o')
    found = json.loads(run("inspect", "--json", journal).stdout)
    assert found["runs"] == {"pack": 2}
    assert found["failed"] == {}
    assert (found["files"], found["left"], found["cut"]) == (24, 23, True)
    run("pack", "-s", "cbor", "--skip-existing", *command)
    found = json.loads(run("inspect", "--json", journal).stdout)
    assert (found["files"], found["left"]) == (24, 24), "left by the last run, not by both"
    assert found["before"] == sum(path.stat().st_size for path in batch.glob("*.json"))
    assert found["after"] == sum(path.stat().st_size for path in (batch / "out").iterdir())
    shown = run("inspect", journal).stdout.decode()
    assert "24, 24 left as they were by the last\n" in shown
    assert "\ncbor:0+zstd:3 " in shown
    assert "slowest" in shown
    run("unpack", "--journal", tmp_path / "two", "-r", batch / "out", "-o", "back")
    run("unpack", "--journal", tmp_path / "two", "--to", "yaml", "-r", batch, "-o", "y", code=3)
    found = json.loads(run("inspect", "--json", tmp_path / "two").stdout)
    assert found["runs"] == {"unpack": 2}
    assert found["formats"]["json"]["after"] == sum(
        path.stat().st_size for path in batch.glob("*.json")
    )
    assert "json -> yaml" in found["formats"]


def test_entries_of_archives_fail_one_by_one_in_a_journal(
    run: Run, batch: Path, tmp_path: Path
) -> None:
    """An archive counted once, whatever of it failed, or as one more of its files."""
    inputs = [batch / name for name in ("00.json", "01.json", "02.json")]
    (batch / "02.json").write_text('{"n": ')
    for code in (3, 0):
        done = run(
            *("pack", "-f", "--archive", "--json", "--journal", "two", "-s", "cbor", "-o", "a.spk"),
            *(*inputs, batch / "no"),
            code=code or 1,
        )
        failed = [*sums(run, "two")["failed"]]
        assert failed == ([f"{batch}/no"] + [f"{batch}/02.json"] * (code == 3))
        *_, last = lines(done.stdout)
        check("error", last)
        assert last["entries"] == len(failed)
        (batch / "02.json").write_text("[1]")
    out = Path("out") / batch.relative_to("/")
    run("unpack", "a.spk", "-o", "out")
    for name in ("00.json", "01.json"):
        (tmp_path / out / name).write_text("other")
    unpack = ("unpack", "a.spk", "-o", "out", "--skip-existing", "--journal", "one")
    run(*unpack, code=1)
    names = [str((batch / name).relative_to("/")) for name in ("00.json", "01.json")]
    assert [*sums(run, "one")["failed"]] == [f"a.spk: {name}" for name in names]
    (tmp_path / out / "00.json").unlink()
    run(*unpack, code=1)
    found = sums(run, "one")
    assert [*found["failed"]] == [f"a.spk: {names[1]}"]
    assert [each["source"] for each in found["slowest"]] == [f"a.spk: {names[0]}"]
    (tmp_path / out / "01.json").unlink()
    run(*unpack)
    assert sums(run, "one")["failed"] == {}


def sums(run: Run, journal: str) -> dict[str, Any]:
    """What inspect says of a journal."""
    found: dict[str, Any] = json.loads(run("inspect", "--json", journal).stdout)
    check("journal", found)
    return found


def test_a_journal_in_which_nothing_was_packed_tells_no_sizes(run: Run) -> None:
    """It said that 0 bytes had become 0, a ratio of nothing, and that 0 bytes were saved."""
    run("pack", "missing.json", "-o", "o.spk", "--journal", "j", code=1)
    shown = run("inspect", "j").stdout.decode()
    assert "0, 1 failed\n" in shown
    assert "size" not in shown


@pytest.mark.parametrize("size", [b"1e999", b"NaN", b"-1", b'"3"', b"null", b"9" * 400])
def test_a_size_in_a_journal_that_is_none_is_a_line_that_is_cut(
    run: Run, tmp_path: Path, size: bytes
) -> None:
    """Infinity was an internal error."""
    (tmp_path / "a.json").write_text("[1]")
    run("pack", "a.json", "--journal", "j")
    kept = (tmp_path / "j").read_bytes()
    assert b'"size": 3' in kept
    with (tmp_path / "j").open("ab") as file:
        file.write(kept.splitlines(keepends=True)[-1].replace(b'"size": 3', b'"size": ' + size))
    found = sums(run, "j")
    assert (found["files"], found["before"], found["cut"]) == (1, 3, True)
    assert b"a line breaks off" in run("inspect", "j").stdout


def test_a_journal_is_added_to_no_other_file(run: Run, sample: Path) -> None:
    before = sample.read_bytes()
    said = run("pack", sample, "--journal", sample, "-o", "out", code=1).stderr
    assert b"exists already, and is no journal" in said
    assert sample.read_bytes() == before
    (sample.parent / "folder").mkdir()
    for path, words in (
        ("none/j", "none/j: its folder does not exist; make the folder first"),
        ("folder", "folder: is a folder; name a file in it"),
    ):  # -o was to name it
        said = run("pack", sample, "--journal", path, "-o", "out", code=1).stderr
        assert said.decode() == f"serialpack: {words}\n"


@pytest.mark.parametrize("sync", ["group", "each"])
def test_what_is_done_is_left(run: Run, batch: Path, tmp_path: Path, sync: str) -> None:
    """What is older than its source, or not whole, is not done."""
    command = ("pack", "--skip-existing", "--sync", sync, "-r", batch, "-o", "out")
    run(*command)
    out = tmp_path / "out"
    before = {path.name: path.stat() for path in out.iterdir()}
    done = run(*command, "--json")
    assert b"0 packed, 24 left as they were" in done.stderr
    for line in lines(done.stdout):
        check("left", line)
    (batch / "00.json").write_text("[]")
    os.utime(batch / "00.json", (2e9, 2e9))
    cut = out / "01.json.spk"
    cut.write_bytes(cut.read_bytes()[:-1])
    os.utime(cut, (2e9, 2e9))
    said = run(*command, code=1).stderr.decode()
    assert "00.json.spk: exists already, and is older than its source; -f overwrites it" in said
    assert "01.json.spk: exists already, and is no whole container" in said
    assert "0 packed, 22 left as they were, 2 failed" in said
    assert "2 packed, 22 left as they were" in run(*command, "-f").stderr.decode()
    for path in out.iterdir():
        assert (path.stat().st_ino == before[path.name].st_ino) == (path.name[:2] > "01")


@pytest.mark.usefixtures("batch")
def test_what_is_done_is_left_under_its_stored_name(run: Run) -> None:
    """With -N --skip-existing was not heeded: all outputs of before were refused."""
    command = ("unpack", "-N", "-r", "packed", "-o", "back", "--skip-existing")
    run("pack", "-r", "in", "-o", "packed")
    assert b"24 unpacked, " in run(*command).stderr
    assert b"0 unpacked, 24 left as they were, " in run(*command).stderr


@pytest.mark.parametrize("size", [100, 30_000, 3_000_000])
def test_an_output_of_a_source_of_another_size_is_not_left(
    run: Run, tmp_path: Path, size: int
) -> None:
    """A source that a backup gave back was older than its output, which was left as it was."""
    source, command = tmp_path / "a.bin", ("pack", "--skip-existing", "--block-size", "1M", "a.bin")
    source.write_bytes(noise(size))
    run(*command)
    assert b"is whole and no older, left as it is" in run(*command).stderr
    source.write_bytes(noise(size - 1))
    os.utime(source, (1e9, 1e9))
    wrong = "a.bin.spk: exists already, and is of a source of another size; -f overwrites it\n"
    assert run(*command, code=1).stderr.decode() == f"serialpack: {wrong}"
    run(*command, "-f")
    run("unpack", "a.bin.spk", "-o", "again")
    assert (tmp_path / "again").read_bytes() == source.read_bytes()


def test_run_again_with_force_no_output_is_packed(run: Run, batch: Path) -> None:
    """``--skip-existing -f``, which makes anew what is stale, packed each container once more."""
    run("pack", "-r", batch)
    (batch / "00.json").write_text("[]")
    said = run("pack", "-r", batch, "--skip-existing", "-f").stderr.decode()
    assert f"{batch}: left out: 24 .spk files\n" in said
    assert "1 packed, 23 left as they were" in said
    assert len([*batch.iterdir()]) == 48
    run("pack", "-r", batch, "-f")
    assert len([*batch.glob("*.spk.spk")]) == 24


def test_removed_only_where_the_output_is_that_of_the_source(run: Run, batch: Path) -> None:
    """A run that was ended between an output and the removal of its source is gone on with."""
    for path in batch.iterdir():  # so that nothing but the bytes tells two of them apart
        os.utime(path, (1e9, 1e9))
    run("pack", "-r", batch)
    (batch / "00.json.spk").write_bytes((batch / "01.json.spk").read_bytes())
    kept = {path.name: path.read_bytes() for path in batch.glob("*.spk")}
    command = ("pack", "--rm", "--skip-existing", *sorted(batch.glob("*.json")))
    for force in ((), ("-f",)):  # which it said would help, and did not
        said = run(*command, *force, code=1).stderr.decode()
        told = "exists already, and is not what its source becomes now; -f alone overwrites it"
        assert f"00.json.spk: {told}" in said
        command = ("pack", "--rm", "--skip-existing", batch / "00.json")
    assert {path.name: path.read_bytes() for path in batch.iterdir()} == {
        **kept,
        "00.json": (batch / "00.json").read_bytes(),
    }
    run("pack", "--rm", "-f", batch / "00.json")
    assert (batch / "00.json.spk").read_bytes() != kept["00.json.spk"]
    assert not (batch / "00.json").exists()


def test_an_archive_among_many(run: Run, batch: Path, tmp_path: Path) -> None:
    """It is many files itself."""
    run("pack", "-r", batch, "-o", tmp_path / "out")
    run("pack", "--archive", batch / "00.json", "-o", tmp_path / "out" / "all.spk")
    done = run("unpack", "--json", "-r", tmp_path / "out", "-o", tmp_path / "back")
    assert len(lines(done.stdout)) == 25
    assert len(list((tmp_path / "back").rglob("*.json"))) == 25


def test_formats_that_are_kept_and_names_that_are_stored(
    run: Run, batch: Path, tmp_path: Path
) -> None:
    """Targets that are known only once an input was looked at."""
    (batch / "bad.json").unlink()
    run("unpack", "--fields", "n", "-r", batch, "-o", tmp_path / "fields")
    assert len(list((tmp_path / "fields").glob("*.json"))) == 23
    run("pack", "-r", batch, "-o", tmp_path / "out")
    run("unpack", "-N", "-r", tmp_path / "out", "-o", tmp_path / "back")
    run("unpack", "-N", "--to", "yaml", "-r", tmp_path / "out", "-o", tmp_path / "yaml")
    assert len(list((tmp_path / "yaml").glob("*.yaml"))) == 23
    for path in batch.iterdir():
        assert (tmp_path / "back" / path.name).read_bytes() == path.read_bytes()


def test_the_sum_counts_the_bytes_of_an_archive_and_not_of_its_entries(
    run: Run, tmp_path: Path
) -> None:
    """It said that as many bytes were read as were written."""
    (tmp_path / "in").mkdir()
    for number in range(30):
        (tmp_path / "in" / f"{number}.json").write_text(json.dumps([{"n": number}] * 500))
    (tmp_path / "packed").mkdir()
    run("pack", "-r", "in", "--archive", "-o", "packed/x.spk")
    size = (tmp_path / "packed" / "x.spk").stat().st_size
    said = run("unpack", "-r", "packed", "-o", "out").stderr.decode().splitlines()[-1]
    match = re.match(r"30 unpacked, (\S+) (KiB|B) -> ", said)
    assert match is not None, said
    assert float(match[1]) * {"KiB": 1024, "B": 1}[match[2]] == pytest.approx(size, rel=0.3)
