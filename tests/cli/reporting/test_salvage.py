"""``unpack --salvage``, and what the other verbs say of damaged containers."""

from __future__ import annotations

import io
import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

import serialpack
from serialpack.container.scan import FoundBlock, FoundIndex
from tests.cli.conftest import warm_command
from tests.docs.test_schemas import ENVIRONMENT, check
from tests.pipeline.damage import blocks_of, flipped, found

LINES = b"".join(b'{"id": %d, "name": "record %d"}\n' % (n, n * n) for n in range(300))
ARRAY = json.dumps([{"id": n, "name": f"record {n * n}"} for n in range(300)]).encode()


class Done:
    """What a command left behind."""

    def __init__(self, done: subprocess.CompletedProcess[bytes]) -> None:
        self.code = done.returncode
        self.out = done.stdout
        self.lines = done.stderr.decode().splitlines()
        assert "Traceback" not in done.stderr.decode()

    @property
    def json(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


def run(folder: Path, *args: str, stdin: bytes = b"") -> Done:
    environment = {**ENVIRONMENT, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    return Done(warm_command().run([*args], stdin, folder, environment, timeout=100))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two packed files, ``a.ndjson.spk`` and ``b.json.spk``, of blocks of a KiB; not damaged."""
    (tmp_path / "a.ndjson").write_bytes(LINES)
    (tmp_path / "b.json").write_bytes(ARRAY)
    for name in ("a.ndjson", "b.json"):
        assert run(tmp_path, "pack", "-q", "--rm", "--block-size", "1K", name).code == 0
    return tmp_path


def damage(path: Path, *numbers: int, end: int | None = None) -> list[FoundBlock]:
    """Damage these blocks of a file, and cut it at ``end``; the blocks that it had."""
    data = path.read_bytes()
    blocks = blocks_of(data)
    path.write_bytes(flipped(data, *(blocks[n].end - 1 for n in numbers))[:end])
    return blocks


def test_what_is_left_is_written_and_what_is_lost_is_said(folder: Path) -> None:
    blocks = damage(folder / "b.json.spk", 1, 2, 5)
    done = run(folder, "unpack", "--salvage", "--json", "b.json.spk")
    assert done.code == 3
    (line,) = done.json
    check("unpack", line)
    assert line["exit"] == 3
    assert [place["block"] for place in line["damage"]] == [1, 2, 5]
    left = json.loads((folder / "b.json").read_bytes())
    want = json.loads(ARRAY)
    for lost in reversed(line["lost"]):
        del want[lost["record"] : lost["record"] + lost["records"]]
    assert left == want
    assert [(lost["block"], lost["blocks"]) for lost in line["lost"]] == [(1, 2), (5, 1)]
    assert line["lost"][0]["start"] == blocks[0].block.size
    said = [text for text in done.lines if "lost: block" in text]
    assert len(said) == 2
    first = line["lost"][0]
    assert f"bytes {first['start']}-{first['end']}" in said[0]
    assert f"records {first['record']}-{first['record'] + first['records']}" in said[0]
    assert f"salvaged: {len(blocks) - 3} of {len(blocks)} blocks" in "".join(done.lines)


def test_a_file_that_is_well_is_unpacked(folder: Path) -> None:
    done = run(folder, "unpack", "--salvage", "--json", "b.json.spk")
    assert (done.code, (folder / "b.json").read_bytes()) == (0, ARRAY)
    check("unpack", done.json[0])
    assert "lost" not in done.json[0]


def test_a_cut_file(folder: Path) -> None:
    blocks = damage(folder / "a.ndjson.spk", end=-300)
    left = [block for block in blocks if block.end <= (folder / "a.ndjson.spk").stat().st_size]
    for name, stdin in (("a.ndjson.spk", b""), ("-", (folder / "a.ndjson.spk").read_bytes())):
        done = run(folder, "unpack", "--salvage", "-o", "-", name, stdin=stdin)
        assert done.code == 3
        assert done.out == LINES[: sum(block.block.size for block in left)]
        assert any("ends before the index" in line for line in done.lines)


def test_several_inputs(folder: Path) -> None:
    """The whole, the damaged and what is none at all, each with its own end."""
    damage(folder / "a.ndjson.spk", 0)
    (folder / "none.spk").write_bytes(b"nothing")
    files = ["a.ndjson.spk", "none.spk", "b.json.spk"]
    done = run(folder, "unpack", "--salvage", "--json", "-o", "out/", *files)
    assert done.code == 3
    assert [line.get("exit") for line in done.json] == [3, 3, None]
    assert names(folder / "out") == ["a.ndjson", "b.json"]


def test_nothing_left_is_no_output(folder: Path) -> None:
    path = folder / "a.ndjson.spk"
    damage(path, *range(len(blocks_of(path.read_bytes()))))
    done = run(folder, "unpack", "--salvage", "a.ndjson.spk")
    assert done.code == 3
    (line,) = done.lines
    assert "nothing to salvage" in line
    assert not (folder / "a.ndjson").exists()
    assert not [name for name in names(folder) if name.endswith(".tmp")]
    assert "--salvage" not in run(folder, "unpack", "a.ndjson.spk").lines[0]


@pytest.mark.parametrize(
    "options", [["--rm"], ["--to", "json"], ["--test"], ["--records", "0:1"], ["--bytes", "0:1"]]
)
def test_what_it_does_not_go_with(folder: Path, options: list[str]) -> None:
    done = run(folder, "unpack", "--salvage", *options, "b.json.spk")
    assert done.code == 2
    assert "--salvage" in done.lines[0]
    assert (folder / "b.json.spk").exists()


def test_outputs_are_whole_and_overwrite_nothing(folder: Path) -> None:
    damage(folder / "b.json.spk", 1)
    (folder / "b.json").write_bytes(b"before")
    done = run(folder, "unpack", "--salvage", "b.json.spk")
    assert (done.code, (folder / "b.json").read_bytes()) == (1, b"before")
    assert run(folder, "unpack", "--salvage", "--max-size", "2K", "-f", "b.json.spk").code == 4
    assert (folder / "b.json").read_bytes() == b"before"
    assert run(folder, "unpack", "--salvage", "--dry-run", "-f", "b.json.spk").code == 0
    assert (folder / "b.json").read_bytes() == b"before"
    assert run(folder, "unpack", "--salvage", "-f", "b.json.spk").code == 3
    assert json.loads((folder / "b.json").read_bytes())


def test_the_stored_name(folder: Path) -> None:
    """Also where only the index still has it."""
    path = folder / "a.ndjson.spk"
    path.rename(folder / "x")
    data = (folder / "x").read_bytes()
    (folder / "x").write_bytes(flipped(data, 30))
    assert run(folder, "unpack", "--salvage", "-N", "x").code == 3
    assert (folder / "a.ndjson").read_bytes() == LINES


@pytest.mark.parametrize("how", ["block", "cut", "front"])
@pytest.mark.parametrize("verb", ["unpack", "inspect"])
def test_errors_name_the_command_that_works(folder: Path, how: str, verb: str) -> None:
    """It is run as it stands there, for a name that a shell must be told of."""
    path = folder / "a b;c.ndjson.spk"
    (folder / "a.ndjson.spk").rename(path)
    data = path.read_bytes()
    index = next(each for each in found(data) if isinstance(each, FoundIndex))
    if how == "block":
        path.write_bytes(flipped(data, blocks_of(data)[1].end - 1, index.end - 1))
    else:
        path.write_bytes(data[:-200] if how == "cut" else bytes(100) + data[100:-9])
    if (verb, how) == ("inspect", "front"):
        return  # it is told about as any other file
    done = run(folder, verb, path.name)
    assert done.code == 3
    command = shlex.split(done.lines[-1].partition("serialpack unpack ")[2])
    assert command[:2] == ["--salvage", path.name]
    assert run(folder, "unpack", *command[:2]).code == 3
    assert (folder / "a b;c.ndjson").stat().st_size > 1000


def test_test_names_all_that_is_damaged(folder: Path) -> None:
    """Each damaged block of each member, on a line of its own."""
    second = folder / "b.json.spk"
    damage(folder / "a.ndjson.spk", 1, 3)
    damage(second, 2)
    joined = folder / "joined.spk"
    joined.write_bytes((folder / "a.ndjson.spk").read_bytes() + second.read_bytes())
    done = run(folder, "unpack", "--test", "--json", "joined.spk")
    assert done.code == 3
    (line,) = done.json
    check("error", line)
    assert [(p["member"], p["block"]) for p in line["damage"]] == [(0, 1), (0, 3), (1, 2)]
    named = [text for text in done.lines if "block" in text and "bytes" in text]
    assert len(named) == 3
    assert "member 1, block 2" in named[2]
    assert "4 places" not in done.lines[-1]
    assert "3 places" in done.lines[-1]
    piped = run(folder, "unpack", "--test", stdin=joined.read_bytes())
    assert piped.code == 3
    assert "block 1" in piped.lines[0]


@pytest.mark.parametrize("words", [[], ["--blocks"], ["--columns"], ["-v"], ["--json"]])
def test_inspect_of_what_is_damaged_all_over(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], words: list[str]
) -> None:
    """Nothing is left of a short member: that was an internal error."""
    from serialpack.cli.app import run as run_here

    path = tmp_path / "short.spk"
    serialpack.pack(io.BytesIO(LINES), path, serializer="raw")
    data = bytearray(path.read_bytes())
    data[10] ^= 1
    path.write_bytes(data[:-20])
    assert run_here(["inspect", *words, str(path)]) == 3
    said = capfd.readouterr().err
    assert "internal" not in said
    assert "short member" in said


def test_inspect_shows_what_is_left(folder: Path) -> None:
    blocks = damage(folder / "a.ndjson.spk", 1, end=-300)
    done = run(folder, "inspect", "--blocks", "a.ndjson.spk")
    assert done.code == 3
    shown = done.out.decode().splitlines()
    assert any(line.split()[-2:] == ["exact,", "damaged"] for line in shown)
    assert any(line.startswith("stages") for line in shown)
    assert any("block 1, bytes" in line for line in done.lines)
    assert any("ends before the index" in line for line in done.lines)
    (line,) = run(folder, "inspect", "--json", "--blocks", "a.ndjson.spk").json
    check("inspect", line)
    assert line["exit"] == 3
    (member,) = line["members"]
    assert [block["damaged"] for block in member["block_list"]][:3] == [False, True, False]
    assert member["digest"] is None
    listed = member["block_list"]
    assert member["size"] == sum(b.block.size for b in blocks[: len(listed)])


#: Two blocks.
FIRST = b"first\n" * 300


@pytest.fixture
def archive(folder: Path) -> Path:
    """An archive of three members of one entry, each of several blocks."""
    with (folder / "all.spk").open("wb") as out:
        for name, data in (("one", FIRST), ("two.ndjson", LINES), ("three", FIRST[::-1])):
            (folder / name).write_bytes(data)
            serialpack.pack(folder / name, out, entry=name, block_size=1024)
    return folder


def members(data: bytes) -> dict[int, list[FoundBlock]]:
    ids: dict[int, list[FoundBlock]] = {}
    for block in blocks_of(data):
        ids.setdefault(block.id, []).append(block)
    return ids


def test_entries_are_salvaged_one_by_one(archive: Path) -> None:
    data = (archive / "all.spk").read_bytes()
    _, second, _ = members(data).values()
    (archive / "all.spk").write_bytes(flipped(data, second[1].end - 1, 20))
    done = run(archive, "unpack", "--salvage", "--json", "all.spk", "-o", "out")
    assert done.code == 3
    *entries, whole = done.json
    for line in entries:
        check("unpack", line)
    check("error", whole)
    assert [line["entry"] for line in entries] == ["one", "two.ndjson", "three"]
    assert (archive / "out/one").read_bytes() == FIRST
    assert (archive / "out/three").read_bytes() == FIRST[::-1]
    begin = second[0].block.size
    end = begin + second[1].block.size
    assert (archive / "out/two.ndjson").read_bytes() == LINES[:begin] + LINES[end:]
    assert [line.get("exit") for line in entries] == [3, 3, None]
    assert not entries[0]["lost"]
    assert [(lost["start"], lost["end"]) for lost in entries[1]["lost"]] == [(begin, end)]


def test_an_entry_of_which_nothing_is_left_is_not_written(archive: Path) -> None:
    data = (archive / "all.spk").read_bytes()
    first, *_ = members(data).values()
    (archive / "all.spk").write_bytes(flipped(data, *(block.end - 1 for block in first)))
    done = run(archive, "unpack", "--salvage", "all.spk", "-o", "out")
    assert done.code == 3
    assert names(archive / "out") == ["three", "two.ndjson"]
    assert any("one: " in line and "nothing to salvage" in line for line in done.lines)


def test_a_cut_archive(archive: Path) -> None:
    data = (archive / "all.spk").read_bytes()
    _, second, _ = members(data).values()
    (archive / "all.spk").write_bytes(data[: second[3].end])
    plain = run(archive, "unpack", "all.spk", "-o", "plain")
    assert plain.code == 3
    assert any("--salvage all.spk" in line for line in plain.lines)
    done = run(archive, "unpack", "--salvage", "all.spk", "-o", "out")
    assert done.code == 3
    size = sum(block.block.size for block in second[:4])
    assert (archive / "out/two.ndjson").read_bytes() == LINES[:size]
    assert any("two.ndjson: lost: all from block 4 on" in line for line in done.lines)


def test_an_archive_of_small_files(folder: Path) -> None:
    """Its members are short ones, and were taken for those of a single file."""
    for name in ("a.json", "b.csv", "c.txt"):  # of a kind each, and so a member each
        (folder / name).write_bytes(b'"1,2"\n' * 9)
    assert run(folder, "pack", "--archive", "a.json", "b.csv", "c.txt", "-o", "all.spk").code == 0
    data = (folder / "all.spk").read_bytes()
    (folder / "all.spk").write_bytes(flipped(data, data.index(b"b.csv")))
    done = run(folder, "unpack", "--salvage", "all.spk", "-o", "out")
    assert done.code == 3
    assert names(folder / "out") == ["a.json", "c.txt"]
    tested = run(folder, "unpack", "--test", "all.spk")
    assert "3 of 3 or more blocks are whole; serialpack unpack --salvage" in tested.lines[-1]
    assert run(folder, "pack", "--archive", "a.json", "-o", "one.spk").code == 0
    (folder / "one.spk").write_bytes((folder / "one.spk").read_bytes()[:-3])
    tested = run(folder, "unpack", "--test", "one.spk")
    assert "1 of 1 or more blocks are whole; serialpack unpack --salvage" in tested.lines[-1]


def test_an_archive_through_a_pipe(archive: Path) -> None:
    data = (archive / "all.spk").read_bytes()
    done = run(archive, "unpack", "--salvage", "-o", "out", stdin=flipped(data, 20))
    assert done.code == 3
    assert names(archive / "out") == ["one", "three", "two.ndjson"]
