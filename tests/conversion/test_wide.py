"""Rows of very many columns are written some members at a time: the same bytes, in less memory."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import serialpack
from serialpack.conversion import wide
from serialpack.conversion.wide import WideRows
from serialpack.errors import SerialpackError
from tests.faults.test_block_memory import MODULES, MOST, ROOM, at_start
from tests.faults.test_memory import peak

_WIDE = 'a,b,"c,1",d,"e\n2",f,g'

#: Sources whose header is long, and whether their rows are written some members at a time.
SOURCES: dict[str, tuple[bytes, bool]] = {
    "plain.csv": (b"a,b,c,d,e\n1,2,3,4,5\n,,,,\n6,7,8,9,0", True),
    "crlf.csv": (b"\xef\xbb\xbfa,b,c,d\r\n1,2,3,4\r\n\r\n5,6,7,8\r\n", True),
    "tabs.tsv": (b"a\tb\tc\td\n1\t2\t3\tx,\xc3\xab\n", True),
    "quoted.csv": (f'{_WIDE}\n1,"2","""",4,,6,"7\r\n"\n'.encode(), True),
    "exact.csv": (b"a,b,c\n1,2,3\n", True),
    "long.csv": (b"a,b,c,d\n1,2,3,4,5\n", False),
    "short.csv": (b"a,b,c,d\n1,2,3,4\n1,2,3\n", False),
    "shorter.csv": (b"a,b,c,d\n1,2\n", False),
    "twice.csv": (b"a,b,c,b\n1,2,3,4\n", False),
    "apart.csv": (b"a,b,c,d,e,a\n1,2,3,4,5,6\n", False),
    "latin.csv": (b"a,b,c,d\n1,2,3,\xff\n", False),
    "return.csv": (b"a,b,c,d\n1,2\r,3,4\n", False),
    "open.csv": (b'a,b,c,d\n1,2,3,"4\n', False),
}


def _outcome(source: Path, target: Path, **how: Any) -> tuple[bytes, str, int | None]:
    """What is written, or said; and how many records there are."""
    try:
        report = serialpack.convert(source, target, to=target.suffix[1:], force=True, **how)
    except SerialpackError as error:
        return b"", f"{error} {error.hint}", None
    return target.read_bytes(), "", report.records


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether the rows of each block were written so; all headers are long, all pieces small."""
    found: list[bool] = []
    convert = WideRows.convert

    def told(self: WideRows, block: Any) -> Any:
        made = convert(self, block)
        found.append(made is not None)
        return made

    monkeypatch.setattr(WideRows, "convert", told)
    monkeypatch.setattr(wide, "WIDE", 1)
    monkeypatch.setattr(wide, "_MEMBERS", 3)
    return found


@pytest.mark.parametrize("to", ["json", "ndjson", "msgpack", "cbor"])
@pytest.mark.parametrize("name", SOURCES)
def test_the_same_is_written_and_said(
    tmp_path: Path, used: list[bool], monkeypatch: pytest.MonkeyPatch, name: str, to: str
) -> None:
    data, in_pieces = SOURCES[name]
    source, target = tmp_path / name, tmp_path / f"out.{to}"
    source.write_bytes(data)
    how: list[dict[str, Any]] = [{}, {"block_size": 8}, {"skip_bad": True}, {"verify": False}]
    found = [_outcome(source, target, **each) for each in how]
    assert used
    assert in_pieces == all(used)
    monkeypatch.setattr(wide, "WIDE", 1 << 40)
    assert found == [_outcome(source, target, **each) for each in how]


@pytest.mark.parametrize(
    "how", [{"fields": ["a"]}, {"tagged": True}, {"lossy": ["duplicates"]}], ids=str
)
def test_what_else_is_asked_has_rows_as_maps(
    tmp_path: Path, used: list[bool], how: dict[str, Any]
) -> None:
    (tmp_path / "x.csv").write_bytes(b"a,b,c,a\n1,2,3,4\n" if "lossy" in how else b"a,b\n1,2\n")
    assert not _outcome(tmp_path / "x.csv", tmp_path / "x.json", **how)[1]
    assert not used


def test_a_member_that_does_not_come_back_is_no_row(
    tmp_path: Path, used: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(_: Any, data: bytes, count: int) -> list[Any]:  # noqa: ARG001
        return [{"d": "5"}]

    monkeypatch.setattr("serialpack.conversion.targets.TargetWriter.load", lost)
    (tmp_path / "x.csv").write_bytes(SOURCES["plain.csv"][0])
    _, said, _ = _outcome(tmp_path / "x.csv", tmp_path / "x.json")
    assert said
    assert used == [False]


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KiB on Linux only")
@pytest.mark.parametrize("to", ["json", "msgpack"])
def test_memory_is_that_of_the_text(tmp_path: Path, to: str) -> None:
    """Up to 158 MiB, where each name and each field was an object, twice."""
    columns, source = 300_000, tmp_path / "wide.csv"
    header = ",".join(f"column{number}" for number in range(columns))
    row = ",".join(f"v{number}" for number in range(columns))
    source.write_text(f"{header}\n{row}\n{row}\n")
    used = peak(tmp_path, "unpack", "--to", to, "-j", "1", "-o", "-", str(source))
    assert used <= at_start() + MODULES + MOST * 4 + ROOM
