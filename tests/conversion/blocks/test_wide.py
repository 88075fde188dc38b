"""Large records are converted part by part: the same bytes and the same words, in less memory."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import cbor2
import msgpack
import pytest

import serialpack
from serialpack.conversion.blocks.wide import WideRecords
from serialpack.errors import SerialpackError
from tests.faults.test_block_memory import MODULES, MOST, ROOM, at_start
from tests.faults.test_memory import peak
from tests.formats.cutting import cut_from

_WIDE = 'a,b,"c,1",d,"e\n2",f,g'
_NESTED = {"a": 1, "rows": [{"id": i, "s": "\u00eb\n"} for i in range(9)], "": {"k": [[], [{}]]}}
_MAP = {f"k{number}": number * 0.5 for number in range(11)}
_TEXT = json.dumps(_NESTED, ensure_ascii=False)
#: As deep as values may be, and deeper: within what is cut, and all in all.
_DEEP = "[" * 499 + "1,2,3" + "]" * 499

#: Sources, and whether they are written part by part.
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
    "nested.ndjson": (f"{_TEXT}\n".encode(), True),
    "map.ndjson": (b"\n" + json.dumps(_MAP, separators=(" ,", "\t:  ")).encode(), True),
    "list.ndjson": (b"\xef\xbb\xbf[1,2 ,[3,4,[5,6,7]],8.50,1e5,-0.0,12345678901234567890]", True),
    "nested.json": (_TEXT.encode(), True),
    "indented.json": (json.dumps(_NESTED, indent=3).encode(), True),
    "element.json": (f"[\n{_TEXT}]\n".encode(), True),
    "spelled.json": (rb'{"a\u00eb":1.50,"b":[100000000000000000000.0,1E5,"\/\uD83D\uDE00"]}', True),
    "again.ndjson": (f"{_TEXT}\n{_TEXT}\n".encode(), False),
    "deep.ndjson": (_DEEP.encode(), True),
    "deeper.ndjson": (f'{{"a":1,"b":2,"c":3,"d":4,"e":[{_DEEP}]}}\n'.encode(), False),
    "twice.ndjson": (b'{"a":1,"b":2,"c":3,"d":4,"e":5,"a":6}\n', False),
    "twice.json": (rb'{"a":{"k":1,"b":2,"c":3,"d":4,"\u006b":6}}', False),
    "comma.ndjson": (b"[1,2,3,4,5,6,]\n", False),
    "commas.ndjson": (b"[1,2,3,,4,5,6]\n", False),
    "first.ndjson": (b"[,1,2,3,4,5,6]\n", False),
    "bracket.ndjson": (b"[1,2,3,4,5,6}\n", False),
    "brackets.ndjson": (b"[1,2,3]],[4,5,6]\n", False),
    "open.ndjson": (b'[1,2,3,4,5,"6]\n', False),
    "key.ndjson": (b'{"a":1,"b":2,"c":3,d:[1,2,3,4,5,6]}\n', True),
    "colon.ndjson": (b'{"a":1,"b":2,"c":3,"d" [1,2,3,4,5,6]}\n', False),
    "lone.ndjson": (rb'["a","b","c","\ud800"]', False),
    "latin.ndjson": (b'["a","b","c","\xff"]', False),
    "zero.ndjson": (b"[1,2,3,4,-0]", True),
    "huge.ndjson": (b"[1,2,3,4,1e400]", True),
    "nested.msgpack": (msgpack.packb(_NESTED), True),
    "map.msgpack": (msgpack.packb(_MAP), True),
    "long.msgpack": (b"\xdd\0\0\0\x05\x01\x02\x03\x04\x05", True),
    "cut.msgpack": (b"\xdd\0\0\0\x06\x01\x02\x03\x04\x05", False),
    "twice.msgpack": (b"\x86" + b"".join(b"\xa1%c\x01" % c for c in b"abcdea"), False),
    "equal.msgpack": (b"\x85\x01\xc0\x02\xc0\x03\xc0\x04\xc0\xca\x3f\x80\0\0\xc0", False),
    "empty.msgpack": (msgpack.packb({"a long key": [], "another": {}, "b": [[], {}]}), True),
    "empty.cbor": (cbor2.dumps({"a long key": [], "another": {}, "b": [[], {}]}), True),
    "empty.ndjson": (b'{"a long key":[  ],"another":{      },"b":[[],{}]}\n', True),
    "nested.cbor": (cbor2.dumps(_NESTED), True),
    "endless.cbor": (b"\xbf\x61a\x9f\x01\x02\x03\x04\xff\x61b\x02\x61c\x03\x61d\x04\xff", True),
    "tagged.cbor": (cbor2.dumps([1, 2, 3, 2**70, 1.5]), True),
    "shared.cbor": (bytes.fromhex("86d81c8101020304d81d0005"), False),
    "open.cbor": (b"\x9f\x01\x02\x03\x04\x05", False),
    "twice.cbor": (b"\xa6" + b"".join(b"\x61%c\x01" % c for c in b"abcdea"), False),
}


def _outcome(source: Path, target: Path, **how: Any) -> tuple[bytes, str, int | None]:
    """What is written, or said; and how many records there are."""
    how = {"threads": 1, "force": True, **how}
    try:
        report = serialpack.convert(source, target, to=target.suffix[1:], **how)
    except SerialpackError as error:
        return b"", f"{error} {error.hint}", None
    return target.read_bytes(), "", report.records


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each block was written so; all records are large, all parts small."""
    found: list[bool] = []
    convert = WideRecords.convert

    def told(self: WideRecords, block: Any, **how: Any) -> Any:
        made = convert(self, block, **how)
        found.append(made is not None)
        return made

    monkeypatch.setattr(WideRecords, "convert", told)
    cut_from(monkeypatch, 4)
    return found


@pytest.mark.parametrize("name", SOURCES)
def test_the_same_is_written_and_said(
    tmp_path: Path, used: list[bool], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    data, in_parts = SOURCES[name]
    source = tmp_path / name
    source.write_bytes(data)
    hows: list[dict[str, Any]] = [{}, {"block_size": 8}, {"skip_bad": True}, {"verify": False}]
    targets = [tmp_path / f"out.{to}" for to in ("json", "ndjson", "msgpack", "cbor")]
    found = [_outcome(source, target, **how) for target in targets for how in hows]
    assert in_parts == used[0]
    cut_from(monkeypatch, 1 << 40)
    assert found == [_outcome(source, target, **how) for target in targets for how in hows]


@pytest.mark.parametrize(
    "how", [{"fields": ["a"]}, {"tagged": True}, {"lossy": ["duplicates"]}], ids=str
)
def test_what_else_is_asked_has_rows_as_maps(
    tmp_path: Path, used: list[bool], how: dict[str, Any]
) -> None:
    (tmp_path / "x.csv").write_bytes(b"a,b,c,a\n1,2,3,4\n" if "lossy" in how else b"a,b\n1,2\n")
    assert not _outcome(tmp_path / "x.csv", tmp_path / "x.json", **how)[1]
    assert not used


def test_a_part_that_does_not_come_back_is_no_record(
    tmp_path: Path, used: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(_: Any, data: bytes, count: int) -> list[Any]:  # noqa: ARG001
        return [{"d": "5"}]

    monkeypatch.setattr("serialpack.conversion.targets.writers.TargetWriter.load", lost)
    (tmp_path / "x.csv").write_bytes(SOURCES["plain.csv"][0])
    _, said, _ = _outcome(tmp_path / "x.csv", tmp_path / "x.json")
    assert said
    assert used == [False]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KiB on Linux only")
@pytest.mark.parametrize(
    ("name", "to"),
    [
        *(("rows.csv", "json"), ("map.ndjson", "msgpack")),
        *(("lists.json", "cbor"), ("rows.msgpack", "json")),
    ],
)
def test_memory_is_that_of_the_text(tmp_path: Path, name: str, to: str) -> None:
    """Up to 158 MiB, where each name and each field was an object, twice."""
    count, source = 300_000, tmp_path / name
    record: Any = {f"column{number}": f"v{number}" for number in range(count)}
    if name.endswith("csv"):
        header, row = (",".join(part) for part in (record, record.values()))
        source.write_text(f"{header}\n{row}\n{row}\n")
    elif name == "rows.msgpack":
        rows = [{"id": number, "name": f"n{number}"} for number in range(count)]
        source.write_bytes(msgpack.packb({"a": 1, "rows": rows}))
    else:
        record = {"a": 1, "lists": [[]] * count * 5} if name == "lists.json" else record
        source.write_text(json.dumps(record, separators=(",", ":")))
    used = peak(tmp_path, "unpack", "--to", to, "-j", "1", "-o", "-", str(source))
    block = max(source.stat().st_size / (1 << 20), 4)
    assert used <= at_start() + MODULES + MOST * block + ROOM
