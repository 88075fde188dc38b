"""What hostile files cost: work and memory that their bytes account for, by the part that spent
more.
"""

from __future__ import annotations

import io
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

from serialpack.depth import json_depth
from serialpack.errors import RefusedError
from serialpack.formats import FORMATS
from serialpack.formats.base import SourceBlock
from serialpack.formats.cbor.scan import scan
from serialpack.formats.csv import csv
from serialpack.formats.json.parse import before_white
from serialpack.formats.losses.marks import Marks
from serialpack.formats.python.opcodes import count_pickles
from serialpack.formats.shared.document import Malformed
from serialpack.formats.shared.expansion import check_unfolded
from serialpack.formats.shared.lines import lines_in_pieces
from serialpack.formats.xml import typed_read as _xmlread
from serialpack.values.kinds import DUPLICATES
from tests.formats.work import Counted, lines_run

# Of work and memory: the same under every Python.
pytestmark = pytest.mark.slow


def test_csv_without_quotes_is_not_matched_with_a_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    """``bytes.find`` goes over a long field a hundred times as fast."""
    monkeypatch.setattr(csv, "line_tokens", lambda _: None)
    for source in (b"x" * 9000, b"a,b\n" + b"," * 9000, b"a,b\n" + b"1,2\n" * 2000):
        for size in (64, 1000):
            blocks = [*FORMATS.get("csv").split(io.BytesIO(source).read, size)]
            assert b"".join(bytes(block.data) for block in blocks) == source


def test_quotes_in_quotes_are_gone_over_in_c() -> None:
    """Also of a record that comes in pieces."""
    finder = csv._CsvFinder(b",")
    begin = bytearray(b'\n"' + b'""' * 5000)
    assert finder.ends(begin, 1, len(begin), begin=True) is None
    more = bytearray(b"\n" + b'""' * 5000)
    assert lines_run(lambda: finder.ends(more, 1, len(more), begin=False)) < 50


@pytest.mark.parametrize("unit", [b"[", b"[]", b'{"a":', b'["[",'])
def test_brackets_are_counted_once(unit: bytes) -> None:
    json_depth(b"[" * 1000)
    assert lines_run(json_depth, unit * 20_000) < 200


@pytest.mark.parametrize("text", [b"[1,", b""])
def test_white_space_is_gone_over_in_c(text: bytes) -> None:
    data = text + b" \n" * 100_000
    assert before_white(data, len(data)) == len(text)
    assert lines_run(before_white, data, len(data)) < 100


class _Text(str):
    """Counts the characters that are copied where it is joined to others one by one."""

    copied = 0
    __slots__ = ()

    def __radd__(self, before: str) -> str:
        _Text.copied += len(before)
        return str(before) + str(self)


def test_text_of_xml_is_joined_once() -> None:
    import defusedxml.ElementTree as defused

    reader = _xmlread._XmlReader(defused.DefusedXMLParser(encoding="utf-8").parser, None)
    for _ in range(100):
        reader._found(_Text("x" * 1000))
    assert _Text.copied < 200_000


def test_lines_in_pieces_are_looked_for_where_they_are_new(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("serialpack.formats.shared.lines.bytearray", Counted, raising=False)
    Counted.seen = 0
    pieces = iter([b"x" * 1000] * 100 + [b"\n1\n2\n"])
    found = lines_in_pieces(pieces, (1, 2))
    assert found is not None
    assert found[0][found[1] : found[2]] == b"1"
    assert Counted.seen < 10 * 100_000


def _unfolding(levels: int) -> list[Any]:
    value: list[Any] = [1]
    for _ in range(levels):
        value = [value, value]
    return value


def test_shared_values_are_gone_over_once() -> None:
    check_unfolded(_unfolding(16), 100)
    assert lines_run(check_unfolded, _unfolding(16), 100) < 1000

    def refused(levels: int) -> None:
        with pytest.raises(RefusedError, match="unfold to far more than the file"):
            check_unfolded(_unfolding(levels), 100)

    assert lines_run(refused, 60) < 5000
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(RefusedError, match="hold themselves"):
        check_unfolded(endless, 100)


@pytest.mark.parametrize("key", [7, True, 2.5, b"k"])
def test_the_first_of_two_keys_is_found_at_once(key: Any) -> None:
    """A map of many keys in which one comes again and again."""
    place = {**dict.fromkeys(range(100, 3000)), key: None}
    marks = Marks(frozenset({DUPLICATES}))

    def again() -> None:
        for _ in range(100):
            assert marks.again(place, key)

    assert lines_run(again) < 50_000
    for new in range(5000, 5100):
        place[new] = None
        assert marks.again(place, new)
    assert not marks.again({1: None}, True)


def _peak(work: Any) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_marks_and_memo_of_pickles_take_no_object_each() -> None:
    size = 3 << 20

    def marks() -> None:
        with pytest.raises(Malformed, match="nested too deeply"):
            count_pickles(b"\x80\x04" + b"(" * size)

    assert _peak(marks) < 16 * size
    memo = b"".join(b"r%b" % (2 * n + 9).to_bytes(4, "little") for n in range(60_000))

    def put() -> None:
        assert count_pickles(b"\x80\x04N" + memo + b".") == 1

    put()
    assert _peak(put) < 4 * len(memo)


@pytest.mark.slow
def test_open_items_of_cbor_are_not_all_kept() -> None:
    size = 3 << 20

    def opened() -> None:
        assert scan(b"\x9f" * size, -1, 1).lost

    assert _peak(opened) < 8 * size


def test_parts_of_a_table_that_are_the_same_bytes_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else a footer of a megabyte has as many pages gone over as it has columns, each."""
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    from serialpack.formats.tables import arrow, parquet

    table = pa.table({"a": ["x" * 100] * 1000})
    file = io.BytesIO()
    pyarrow.parquet.write_table(table, file, compression="none")
    data = file.getvalue()
    whole = FORMATS.get("parquet")
    read: Any = whole.parse  # type: ignore[attr-defined]
    assert len(read(SourceBlock(data, 0, 0, last=True))) == 1000
    take: Any = vars(parquet)["pages"]

    def again(*args: Any) -> Iterator[Any]:
        for _ in range(len(data)):
            yield from take(*args)

    monkeypatch.setattr(parquet, "pages", again)
    with pytest.raises(Exception, match="the same bytes twice"):
        read(SourceBlock(data, 0, 0, last=True))

    file = io.BytesIO()
    with pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    from serialpack.formats.tables.flatbuffers import file_blocks as blocks

    monkeypatch.setattr(arrow, "file_blocks", lambda footer: [*blocks(footer)] * 10)
    with pytest.raises(Exception, match="the same bytes twice"):
        FORMATS.get("arrow").parse(SourceBlock(file.getvalue(), 0, 0, last=True))  # type: ignore[attr-defined]
