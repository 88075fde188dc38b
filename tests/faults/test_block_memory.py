"""Memory is a multiple of the block whatever its records are: also where each is a byte."""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import serialpack
from tests.faults.conftest import MIB
from tests.faults.test_memory import peak

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KiB on Linux only")

#: What a command may take beside what it has at its start: times the block, and MiB.
MOST, ROOM = 3, 64

#: MiB of the modules that only conversions load.
MODULES = 4

#: Bytes of a member of a record that is there as a map.
MEMBER = 550

#: A record, and what stands before the first and behind the last.
RECORDS = {
    "nil.msgpack": (b"\xc0", b"", b""),
    "list.msgpack": (b"\x91\x01", b"", b""),
    "number.csv": (b"1\n", b"a\n", b""),
    "quoted.csv": (b'""\n', b"a\n", b""),
    "commas.csv": (b",,,\n", b"a,b,c,d\n", b""),
    "tabs.tsv": (b"\t\t\t\n", b"a\tb\tc\td\n", b""),
    "number.ndjson": (b"1\n", b"", b""),
    "lists.json": (b"[],", b"[", b"[]]"),
}

VERBS = {
    "head": ("inspect", "--head", "1"),
    "first": ("unpack", "-o", "-", "--records", "0:1"),
    "late": ("unpack", "-o", "-", "--records", "1000000:1000001"),
    "bytes": ("unpack", "-o", "-", "--bytes", "0:1"),
    "all": ("unpack", "--test", "-j", "1"),
}


def packed(folder: Path, name: str, serializer: str, size: int) -> Path:
    """A container of some ``size`` bytes, of one record again and again: of one block, where that
    is not cut by its values."""
    record, before, behind = RECORDS[name]
    source = folder / name
    source.write_bytes(before + record * (size // len(record) - 16) + behind)
    target = folder / f"{name}.spk"
    serialpack.pack(source, target, serializer=serializer, block_size=size, verify=False)
    assert len(serialpack.inspect(target).members[0].blocks) == 1 or serializer == "columns"
    return target


@cache
def at_start() -> float:
    """MiB that a command takes for a container with next to nothing in it; measured once."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        small = folder / "small.csv"
        small.write_bytes(b"a\n1\n2\n")
        serialpack.pack(small, folder / "small.spk", serializer="columns")
        return peak(folder, "unpack", "--test", str(folder / "small.spk"))


#: They are gone through by the code of others.
_AS_OTHERS = {"list.msgpack", "tabs.tsv"}


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[pytest.mark.soak] if n in _AS_OTHERS else []) for n in RECORDS],
)
def test_one_byte_records_take_no_object_each(tmp_path: Path, name: str) -> None:
    """An object for each took a hundred times their bytes."""
    path = packed(tmp_path, name, "raw", 4 * MIB)
    most = at_start() + MOST * 4 + ROOM
    used = {verb: peak(tmp_path, *args, str(path)) for verb, args in VERBS.items()}
    assert max(used.values()) <= most, (most, used)


@pytest.mark.parametrize("name", ["nil.msgpack", "number.csv", "quoted.csv", "number.ndjson"])
def test_packing_them_as_they_are_takes_no_object_each(tmp_path: Path, name: str) -> None:
    record, before, _ = RECORDS[name]
    (tmp_path / name).write_bytes(before + record * (MORE // len(record)))
    args = ("pack", "-s", "raw", "-j", "1", "--block-size", "4M", "-o", "-")
    used = peak(tmp_path, *args, str(tmp_path / name))
    assert used <= at_start() + MOST * 4 + ROOM


#: MiB that the allocator may keep between the arrays of a block.
HOLES = 48


@pytest.mark.parametrize("name", ["commas.csv", "text.msgpack"])
def test_columns_of_usual_blocks_take_memory_for_so_many_values(tmp_path: Path, name: str) -> None:
    """277 and 324 MiB in all, for blocks of 4 MiB that are nothing but small values."""
    record, before, _ = {**RECORDS, "text.msgpack": (b"\xa1a", b"", b"")}[name]
    source, target = tmp_path / name, tmp_path / "packed.spk"
    source.write_bytes(before + record * (MORE // len(record)))
    most = at_start() + MOST * 4 + ROOM + HOLES
    args = ("pack", "-s", "columns", "-j", "1", "--block-size", "4M", "-o", str(target))
    assert peak(tmp_path, *args, str(source)) <= most
    assert peak(tmp_path, "unpack", "--test", "-j", "1", str(target)) <= most - HOLES


@pytest.mark.parametrize(
    ("name", "size", "block"),
    [
        pytest.param("nil.msgpack", 14, 16, marks=pytest.mark.soak),
        ("number.csv", 8, 64),
        *(
            pytest.param(n, 8, 64, marks=pytest.mark.soak)
            for n in ("commas.csv", "tabs.tsv", "number.ndjson", "lists.json")
        ),
    ],
)
def test_columns_of_large_blocks_take_memory_for_so_many_values(
    tmp_path: Path, name: str, size: int, block: int
) -> None:
    """Sixty bytes and more for each byte of them, where the block had as many values as bytes."""
    record, before, behind = RECORDS[name]
    source, target = tmp_path / name, tmp_path / "packed.spk"
    source.write_bytes(before + record * (size * MIB // len(record)) + behind)
    most = at_start() + MOST * block + ROOM
    args = ("pack", "-s", "columns", "-j", "1", "--block-size", f"{block}M", "-o", str(target))
    assert peak(tmp_path, *args, str(source)) <= most
    assert peak(tmp_path, "unpack", "--test", "-j", "1", str(target)) <= most


@pytest.mark.soak
@pytest.mark.parametrize(
    ("name", "serializer", "size"),
    [("number.csv", "columns", 32), ("nil.msgpack", "raw", 16), ("number.ndjson", "columns", 16)],
)
def test_large_blocks_of_them(tmp_path: Path, name: str, serializer: str, size: int) -> None:
    path = packed(tmp_path, name, serializer, size * MIB)
    most = at_start() + MOST * size + ROOM
    used = {verb: peak(tmp_path, *args, str(path)) for verb, args in VERBS.items()}
    assert max(used.values()) <= most, (most, used)


def test_whatever_is_packed_is_unpacked(tmp_path: Path) -> None:
    """The limits are on memory, not on what comes of how little."""
    source, target = tmp_path / "zeros", tmp_path / "zeros.spk"
    with source.open("wb") as file:
        file.truncate(64 * MIB)
    serialpack.pack(source, target, verify=False)
    assert target.stat().st_size < 16 << 10
    serialpack.unpack(target, tmp_path / "back")
    assert (tmp_path / "back").stat().st_size == 64 * MIB


def test_inspect_refuses_to_show_more_than_max_size(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    from serialpack.cli.app import run

    path = packed(tmp_path, "number.csv", "raw", MIB)
    assert run(["inspect", "--head", "3", "--max-size", "1K", str(path)]) == 0
    assert capfd.readouterr().out == "a\n1\n1\n1\n"
    assert run(["inspect", "--head", "1000", "--max-size", "1K", str(path)]) == 4
    assert "--max-size 1.0 KiB" in capfd.readouterr().err
    assert run(["inspect", "--max-size", "1K", str(path)]) == 2


#: Bytes of a source: a block, and the start of another.
MORE = 9 * MIB // 2

#: Records of as many values as can stand in their bytes, but for those of ``RECORDS``.
DENSEST = {
    "one.cbor": (b"\x01", b"", b""),
    "lists.cbor": (b"\x80", b"", b""),
    "elements.cbor": (b"\x81\x01", b"\x9f", b"\xff"),
    "empty.bson": (b"\x05\0\0\0\0", b"", b""),
}


@pytest.mark.parametrize(
    "name",
    [
        *DENSEST,
        *("list.msgpack", "number.csv", "lists.json"),
    ],
)
def test_converting_them_takes_memory_for_so_many_values(tmp_path: Path, name: str) -> None:
    """Up to 1,000 MiB, where each of a block of 4 MiB became an object of its own, and twice."""
    record, before, behind = {**RECORDS, **DENSEST}[name]
    source = tmp_path / name
    source.write_bytes(before + record * (MORE // len(record)) + behind)
    used = peak(tmp_path, "unpack", "--to", "json", "-j", "1", "-o", "-", str(source))
    assert used <= at_start() + MOST * 4 + ROOM


def test_a_table_that_is_mostly_empty_takes_memory_for_some_of_its_cells(tmp_path: Path) -> None:
    """372 MiB, where the rows of a block were written at once; 10 GiB for 90,000 columns."""
    source = tmp_path / "own.ndjson"
    source.write_text("".join(f'{{"k{number}":1}}\n' for number in range(2500)))
    args = ("unpack", "--to", "csv", "-j", "1", "-f", "-o", str(tmp_path / "out"))
    assert peak(tmp_path, *args, str(source)) <= at_start() + MODULES + ROOM


def wide(folder: Path, name: str, columns: int) -> Path:
    """A source of two records with so many members."""
    names, fields = ([f"{word}{n}" for n in range(columns)] for word in ("column", "v"))
    rows = [",".join(names), *[",".join(fields)] * 2]
    if name.endswith("json"):
        rows = [json.dumps(dict(zip(names, fields, strict=True)))] * 2
    source = folder / name
    source.write_text("\n".join([*rows, ""]))
    return source


#: Bytes of a name in a map that CPython 3.12 keeps for good, since msgpack interns it
#: (python/cpython#113993, mended in 3.13).
KEPT = 80 if sys.version_info[:2] == (3, 12) else 0


@pytest.mark.slow
@pytest.mark.parametrize(("name", "serializer"), [("wide.csv", "json"), ("wide.ndjson", "msgpack")])
def test_a_record_of_many_members_takes_memory_for_its_text(
    tmp_path: Path, name: str, serializer: str
) -> None:
    """Up to 158 MiB to pack, and 130 to unpack, where its names and values were objects, twice."""
    source, packed = wide(tmp_path, name, 300_000), tmp_path / "packed.spk"
    text = source.stat().st_size / MIB
    most = at_start() + ROOM + (10 * text * 2 / 3 if name == "wide.csv" else 5 * text / 2)
    most += KEPT * 300_000 / MIB
    how = ("-j", "1", "-f", "-o")
    assert peak(tmp_path, "pack", "-s", serializer, *how, str(packed), str(source)) <= most
    assert peak(tmp_path, "unpack", *how, str(tmp_path / "back"), str(packed)) <= most
    assert (
        peak(tmp_path, "unpack", "--to", "json", *how, str(packed), str(source)) <= most + MODULES
    )


def test_a_record_that_is_not_cut_takes_memory_for_each_member(tmp_path: Path) -> None:
    """Its names and values are objects, twice: ``MEMBER`` bytes."""
    source = wide(tmp_path, "wide.ndjson", 150_000)
    args = ("unpack", "--to", "msgpack", "--lossy", "duplicates", "-j", "1", "-o", "-")
    used = peak(tmp_path, *args, str(source))
    assert used <= at_start() + MODULES + MEMBER * 150_000 / MIB


@pytest.mark.parametrize("args", ["unpack --to json", "unpack --to msgpack", "pack -s json"])
def test_a_map_of_many_members_takes_memory_for_a_block_of_them(tmp_path: Path, args: str) -> None:
    """252 MiB, and 203 to pack it, where each of a block of 4 MiB was a map of its own."""
    source = tmp_path / "map.json"
    with source.open("w") as file:
        file.write("{")
        file.writelines(f'"k{number}":{number % 10},' for number in range(420_000))
        file.write('"":0}')
    words = (*args.split(), "-j", "1", "-f", "-o", str(tmp_path / "out"))
    # At its start no module of conversions is loaded.
    assert peak(tmp_path, *words, str(source)) <= at_start() + MODULES + MOST * 4 + ROOM
