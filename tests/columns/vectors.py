"""The test vectors of man/spk-columns.5: small texts and columns, and their bytes with notes.

The bytes come from the writer; the notes come from a decoder that was written from the page
(``oracle.py``), so a byte that the page does not explain is an error. To print them for the page,
from the repository's root:

    python -m tests.columns.vectors
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from serialpack.columns.bulk.groups import group
from serialpack.columns.encodings import NAMES, reference
from serialpack.columns.encodings.choose import attempt, encode_column
from serialpack.columns.encodings.numbers import write_numbers
from serialpack.columns.parse.shape import split
from serialpack.columns.stored import structure
from serialpack.columns.stored.coding import Coded, Context
from serialpack.columns.stored.streams import effort
from serialpack.columns.stored.write import encode_all
from serialpack.columns.texts import Texts
from tests.columns.oracle import Description, Note, Stream
from tests.columns.oracle_texts import read_columns, read_structure

TO = Context(effort(3), encode_column)

#: Bytes shown on a line; the notes beside them fit a manual page of 80 columns.
_WIDTH = 8


class Vector(NamedTuple):
    """What is packed, and how it is shown on the page."""

    title: str
    shown: list[str]


#: A text of each kind.
TEXTS: dict[str, tuple[str, bytes]] = {
    "A JSON text": (
        "json",
        b'[{"a":"x"},{"a":null},{"a":7}]\n',
    ),
    "A CSV text": ("csv", b'n,name\n1,"a"\n2,"b"\n'),
    "MessagePack data": ("msgpack", b"\x81\xa1a\x91\x07\x81\xa1a\x91\xcc\x80"),
}

#: For each encoding by its name a column that it takes; the other column of those that refer.
COLUMNS: dict[str, list[bytes]] = {
    "plain": [b"no", b"yes"],
    "constant": [b"same", b"same"],
    "dictionary": [b"red", b"blue", b"red", b"red"],
    "integer": [b"7", b"-3", b"7", b"12"],
    "digits": [b"007", b"008", b"009"],
    "decimal": [b"1.50", b"-0.25", b"2.00"],
    "exceptions": [b"1", b"none", b"2", b"4"],
    "float": [b"0.1", b"1e+300"],
    "fixed": [b"x1-af", b"x2-b7", b"x9-0c"],
    "letters": [b"AC", b"GTTA"],
    "affix": [b"/a.txt", b"/bc.txt"],
    "capitals": [b"Ann", b"Bob"],
    "front": [b"car", b"card", b"cat"],
    "base64": [b"AAEC", b"/w=="],
    "patterns": [b"4 Elm Rd", b"x", b"97 Oak St"],
    "prose": [b"to be, or not", b"not to be"],
    "reference": [b"1", b"2", b"3"],
    "follows": [b"a", b"b", b"a", b"c"],
}
LEADERS: dict[str, list[bytes]] = {
    "reference": [b"1", b"2", b"4"],
    "follows": [b"7", b"8", b"7", b"7"],
}

#: Numbers in each of their ways.
NUMBERS: dict[str, list[int]] = {
    "all the same": [-2, -2, -2],
    "steps": [10, 20, 30],
    "offsets": [-1, 300, 5],
}


def coded(name: str) -> Coded:
    """The column of this encoding in it."""
    texts = Texts.from_list(COLUMNS[name])
    if name in LEADERS:
        leader = Texts.from_list(LEADERS[name])
        if name == "reference":
            return reference.refer(0, texts, ~reference.equal(leader, texts), TO)
        order = reference.in_order(group(leader))
        codes = group(texts).codes
        return reference.follow(0, order, texts, codes[order.firsts[order.codes]] != codes, TO)
    found = attempt("integer" if name == "exceptions" else name, texts, TO)
    assert found is not None
    return found


def _description(found: Coded, leader: list[bytes]) -> Description:
    streams = [Stream(each.coder, each.kind, len(each.raw), each.stored) for each in found.streams]
    return Description(found.description, streams, lambda _: leader)


def lines(notes: Iterable[Note]) -> list[str]:
    """Bytes in hexadecimal, and beside them what they are."""
    found = []
    for note in notes:
        texts = [note.text]
        for start in range(0, len(note.data), _WIDTH):
            shown = note.data[start : start + _WIDTH].hex(" ").upper()
            found.append(f"{shown:{3 * _WIDTH - 1}}  {texts.pop() if texts else ''}".rstrip())
    return found


def of_text(title: str) -> list[str]:
    """The lines of a text: its structure and its columns."""
    kind, text = TEXTS[title]
    found = split(text, kind)
    assert found is not None
    read = read_structure(structure.write(found.shape, 3))
    columns = read_columns(encode_all(found.columns))
    assert read.text(columns.values) == text
    shown = (
        [f"text     {text.hex(' ').upper()}"]
        if kind == "msgpack"
        else [f"text     {line}" for line in text.decode().splitlines()]
    )
    return [*shown, "", *lines(read.notes), "", *lines(columns.notes)]


def of_column(name: str) -> list[str]:
    """The lines of an encoding: its values, its description and its streams."""
    found = coded(name)
    read = _description(found, LEADERS.get(name, []))
    assert read.column(len(COLUMNS[name])) == COLUMNS[name]
    read.end()
    shown = [f"column 0 {_quoted(LEADERS[name])}"] if name in LEADERS else []
    return [*shown, f"values   {_quoted(COLUMNS[name])}", *lines([*read.notes, *_streams(found)])]


def _quoted(values: list[bytes]) -> str:
    return " ".join(f'"{value.decode()}"' for value in values)


def of_numbers(name: str) -> list[str]:
    """The lines of some numbers."""
    found = write_numbers(np.array(NUMBERS[name], np.int64), TO.use)
    read = _description(found, [])
    assert read.numbers("numbers", len(NUMBERS[name])) == NUMBERS[name]
    read.end()
    shown = " ".join(map(str, NUMBERS[name]))
    return [f"numbers  {shown}", *lines([*read.notes, *_streams(found)])]


def _streams(found: Coded) -> Iterator[Note]:
    for place, stream in enumerate(found.streams):
        assert stream.stored == stream.raw, "what a codec makes may change with its version"
        yield Note(stream.stored, f"stream {place}")


def blocks() -> dict[str, list[str]]:
    """All of them, by name, in the order of the page."""
    return {
        **{name: of_numbers(name) for name in NUMBERS},
        **{name: of_column(name) for name in NAMES.values()},
        **{title: of_text(title) for title in TEXTS},
    }


def roff(line: str) -> str:
    """A line as it stands in the source of a manual page."""
    for sign, escape in (("\\", "\\e"), ("-", "\\-"), ("^", "\\(ha"), ("~", "\\(ti")):
        line = line.replace(sign, escape)
    return line.replace("'", "\\(aq").replace("`", "\\(ga")


def main() -> None:
    """Prints all of them as they stand in the page."""
    for name, shown in blocks().items():
        sys.stdout.write("\n".join([f'.\\" {name}', ".EX", *map(roff, shown), ".EE\n"]))


if __name__ == "__main__":
    main()
