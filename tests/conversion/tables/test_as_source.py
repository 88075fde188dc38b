"""A table of text that stays one has the line ends, byte-order mark and quotes of its source."""

from __future__ import annotations

import csv
import io
import json
from typing import IO, Any

import pytest

from serialpack.conversion.files import convert
from serialpack.conversion.tables.shaping import Shaping
from serialpack.errors import UsageError
from serialpack.formats.base import SourceBlock
from serialpack.formats.csv.text import CsvText

MARK = b"\xef\xbb\xbf"
WINDOWS = MARK + b'a;b\r\n1;x\r\n2;"y\nz"\r\n'


def converted(source: bytes, to: str = "csv", **how: object) -> bytes:
    target: IO[bytes] = io.BytesIO()
    convert(io.BytesIO(source), target, to=to, **how)  # type: ignore[arg-type]
    target.seek(0)
    return target.read()


@pytest.mark.parametrize(
    "source",
    [
        WINDOWS,
        WINDOWS.removeprefix(MARK),
        WINDOWS.replace(b"\r\n", b"\n"),
        WINDOWS.replace(b";", b","),
        WINDOWS + b"".join(b"%d;%d\r\n" % (n, n) for n in range(200)),
    ],
    ids=["both", "unmarked", "line feeds", "commas", "by columns"],
)
def test_the_very_bytes_come_back(source: bytes) -> None:
    assert converted(source, format="csv") == source


def test_so_have_some_of_its_columns_and_other_records() -> None:
    assert converted(WINDOWS, format="csv", fields=["b"]) == MARK + b'b\r\nx\r\n"y\nz"\r\n'
    assert converted(b"a\tb\r\n1\t2\r\n", "tsv", format="tsv", fields=["b"]) == b"b\r\n2\r\n"
    bare = converted(WINDOWS, format="csv", no_header=True)
    assert bare == MARK + b"column1;column2\r\n" + WINDOWS.removeprefix(MARK)


def test_other_formats_are_written_as_usual() -> None:
    assert converted(WINDOWS, "tsv", format="csv") == b'a\tb\n1\tx\n2\t"y\nz"\n'
    text = converted(WINDOWS, "json", format="csv")
    assert converted(text) == b'a,b\n"1",x\n"2","y\nz"\n'
    assert converted(WINDOWS, format="csv", as_source=False) == b'a;b\n1;x\n2;"y\nz"\n'


def text_of(quoting: int, rows: list[list[object]]) -> bytes:
    file = io.StringIO(newline="")
    csv.writer(file, quoting=quoting, lineterminator="\n").writerows(rows)  # type: ignore[arg-type]
    return file.getvalue().encode()


ROWS: list[list[object]] = [["name", "age", "note"], ["Anna", 1, "a, b"], ["Bert", 2.5, 'say "x"']]
ALL = text_of(csv.QUOTE_ALL, ROWS)
TEXT = text_of(csv.QUOTE_NONNUMERIC, ROWS)


@pytest.mark.parametrize("rows", [1, 200], ids=["few", "many"])
@pytest.mark.parametrize(
    ("head", "row"),
    [
        (b'"a","b"', b'"1","x"'),
        (b'"a","b"', b'1,"x"'),
        (b"a,b", b'1,"x"'),
        (b'"a","b"', b"1,x"),
        (b'"a","b"', b'"",""'),
        (b'"a"', b'"x"'),
        (b'"a","b","c"', b'"x","",3\n"y",,4\n"","z",'),
        (b'"a","b"', b'"x",\n,"y"'),
    ],
    ids=["all", "text", "column", "names", "empty", "one", "some empty", "filled"],
)
def test_quotes_come_back_where_they_follow_a_rule(head: bytes, row: bytes, rows: int) -> None:
    source = b"\n".join([head, *[row] * rows, b""])
    got = converted(source, format="csv")
    if b'"x",""' in row:  # the second column follows none
        source = source.replace(b'"x",""', b'"x",').replace(b'"z"', b"z")
    assert got == source


def test_what_no_cell_has_shown_is_quoted_as_the_others() -> None:
    late = b'"",1,""\n'
    everything = b"".join([b'"a","n","t"\n', *[b'"x","1","y, z"\n'] * 9000, b'"","","y"\n'])
    assert converted(everything, format="csv") == everything
    some = b"".join([b"a,n,t\n", *[b'"x",1,"y, z"\n'] * 9000])
    assert converted(some + late, format="csv") == some + b",1,\n"
    shown = b'a,n,t\n"x",2,""\n' + some.removeprefix(b"a,n,t\n")
    assert converted(shown + late, format="csv") == shown + late


def test_what_has_to_be_quoted_says_nothing_of_the_rest() -> None:
    for source in (b'a,b\n1,"x,y"\n', b'a\n"x,y"\n', b'a\n""\n', b'"a,b",c\n1,2\n'):
        bare = source + b"z,\n" * (b"b" in source)
        assert converted(bare, format="csv") == bare


def test_quotes_are_told_by_name_and_between_other_delimiters() -> None:
    assert converted(ALL, format="csv", fields=["note"]) == b'"note"\n"a, b"\n"say ""x"""\n'
    some = b'"name","age"\n"Anna",1\n"Bert",2.5\n'
    assert converted(TEXT, format="csv", fields=["name", "age"]) == some
    windows = MARK + TEXT.replace(b",", b";").replace(b"\n", b"\r\n")
    assert converted(windows, format="csv") == windows
    wide = TEXT.decode().encode("utf-16")
    assert converted(wide, format="csv") == TEXT
    assert converted(TEXT, format="csv", as_source=False) == (
        b'name,age,note\nAnna,1,"a, b"\nBert,2.5,"say ""x"""\n'
    )


@pytest.mark.parametrize("rows", [1, 200], ids=["few", "many"])
def test_values_with_types_stay_what_they_are(rows: int) -> None:
    """What is quoted is text: a number or a null is not quoted for being beside it."""
    source = b'"a","b"\n' + b'1,"1"\n,"x"\ntrue,""\n' * rows
    assert converted(source, format="csv", shaping=Shaping(typed=True)) == source
    source = b'"a","b"\n' + b'"1","1"\n' * rows
    assert converted(source, format="csv", shaping=Shaping(typed=True)) == source
    nested = b'"a.b","a.c"\n' + b'1,"x"\n' * rows
    shaping = Shaping(typed=True, nest=("-",))
    assert converted(nested, format="csv", shaping=shaping) == nested


@pytest.mark.parametrize("mark", [",", ";", "|"])
def test_what_stands_between_fields_can_be_said(mark: str) -> None:
    """Of any source; and what reads it as it was names it."""
    records = [{"a": 1.5, "b": f"x{mark}y"}, {"a": 2, "b": ","}]
    shaping = Shaping(delimiter=mark)
    target = io.BytesIO()
    done = convert(io.BytesIO(json.dumps(records).encode()), target, to="csv", shaping=shaping)
    text = target.getvalue()
    assert list(csv.reader(io.StringIO(text.decode()), delimiter=mark)) == [
        ["a", "b"],
        ["1.5", f"x{mark}y"],
        ["2", ","],
    ]
    assert done.back == ("-F", "csv" if mark == "," else done.back[1], "--typed")
    back = converted(text, "json", format=done.back[1], shaping=Shaping(typed=True))
    assert json.loads(back) == records
    for source in (b"a\tb\n1\tx\n", b"a,b\n1,x\n", b"a;b\n1;x\n", b"a|b\n1|x\n"):
        wanted = f"a{mark}b\n1{mark}x\n".encode()
        assert converted(source, format=None, shaping=shaping) == wanted
    kept = converted(b'a;b\n1;"x"\n', "parquet", format="csv", shaping=Shaping(infer=True))
    assert converted(kept, shaping=shaping).startswith(f"a{mark}b\n".encode())


@pytest.mark.parametrize(
    ("to", "mark", "said"),
    [
        ("json", ";", "--out-delimiter is for csv, not json"),
        ("tsv", ";", "--out-delimiter is for csv, not tsv"),
        ("csv", "\t", "--out-delimiter '\\t' is not written; --to tsv writes it"),
        ("csv", ":", "--out-delimiter ':' is not written; one of , ; and |"),
    ],
)
def test_what_cannot_stand_between_fields_is_refused(to: str, mark: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        converted(b"[]", to, shaping=Shaping(delimiter=mark))
    assert refused.value.said == said


def test_how_a_table_is_quoted_is_only_looked_at_for_who_writes_it_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It was looked at for any table of text: 64 KiB for nothing."""
    looked: list[SourceBlock] = []
    style_of = CsvText.style_of_table

    def counted(self: CsvText, block: SourceBlock) -> Any:
        looked.append(block)
        return style_of(self, block)

    monkeypatch.setattr(CsvText, "style_of_table", counted)
    for to, count in {"csv": 1, "tsv": 0, "ndjson": 0}.items():
        looked.clear()
        converted(b"a;b\n1;2\n", to=to, format="csv")
        assert len(looked) == count, to
    converted(b"a;b\n1;2\n", format="csv", as_source=False)
    assert not looked
