"""The bad files of archives whose entries share blocks."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import partial
from typing import Any

import zstandard

from serialpack.container.entries import EntryRow
from serialpack.container.frames import checksum
from tests.bad.draft import DATA, Bad, D, T
from tests.bad.short import NAME, REST, built
from tests.first_rows import encode_first

ENTRIES = REST + 1
FILE = EntryRow("a", 0o100644, 5, len(DATA[0]), check=checksum(DATA[0]))


def member(rows: Any, more: dict[str, Any] | None = None) -> bytes:
    """A short member with these rows; ``more``: other keys of its header."""
    return built({NAME: None, REST: {"needs": ["archive"], **(more or {})}, ENTRIES: rows})


def closed(rows: Any) -> bytes:
    """A member with these rows, which is all of an archive."""
    return member(rows, {"a": 0})


def bent(at: int, value: bytes) -> bytes:
    """The rows of one file, of which bytes from ``at`` on are others."""
    rows = zstandard.ZstdDecompressor().decompress(encode_first([FILE]))
    return zstandard.ZstdCompressor().compress(rows[:at] + value + rows[at + len(value) :])


def second(**others: bytes) -> bytes:
    """The rows of one file in the second form, of which some pieces are ``others``."""
    pieces = {
        "head": struct.pack("<IB", 1, 0),
        "modes": b"\0\2\xa4\x81",
        "unit": struct.pack("<Q", 5),
        "times": b"\0\1\1",
        "sizes": b"\0\1" + bytes([len(DATA[0])]),
        "patterns": struct.pack("<I", 1) + b"\0\0" + b"a\0",
        "which": b"\0\0",
        "numbers": b"",
        "more": b"",
    }
    content = b"".join({**pieces, **others}.values())
    return b"\2" + zstandard.ZstdCompressor().compress(content)


def of_second_form(rows: bytes) -> bytes:
    """A member with these rows, which is all of an archive."""
    return member(rows, {"a": 0, "needs": ["archive", "rows"]})


def patterns(text: bytes, count: int = 1, shared: bytes = b"\0\0") -> bytes:
    """The patterns of rows."""
    return struct.pack("<I", count) + shared + text


def second_form() -> Iterator[Bad]:
    """Rules of ROWS."""
    for name, sentence, words, others in (
        ("flag", "Other bits are reserved.", "their head", {"head": b"\1\0\0\0\2"}),
        ("room", "An entry takes 32 bytes of room.", "their head", {"head": b"\1\x40\0\0\0"}),
        ("way", "A series is stored in one of four ways.", "way 4", {"modes": b"\4\0"}),
        ("width", "A number has at most eight bytes.", "9 bytes", {"modes": b"\0\x09" + bytes(9)}),
        ("mode", "A mode has 32 bits.", "32 bits", {"modes": b"\0\5\xa4\x81\0\0\1"}),
        ("unit", "A unit is not 0.", "unit", {"unit": bytes(8)}),
        (
            "different",
            "There are no more different numbers than numbers.",
            "different",
            {"times": b"\2\2\0\0\0\0\0"},
        ),
        ("place", "A place is one among them.", "place", {"times": b"\2\1\0\0\0\0\0\1"}),
        (
            "patterns",
            "There are no more patterns than paths.",
            "more",
            {"patterns": patterns(b"a\0b\0", 2)},
        ),
        (
            "shared",
            "A pattern shares what there is.",
            "shares",
            {"patterns": patterns(b"a\0", 1, b"\0\1\1")},
        ),
        ("which", "The pattern of a path is one of those.", "behind", {"which": b"\0\1\1"}),
        (
            "digits",
            "A number has 1 to 19 digits.",
            "20 digits",
            {"patterns": patterns(b"\2\x14\0"), "numbers": b"\0\0"},
        ),
        (
            "number",
            "A number has no more digits than there is room for.",
            "too many digits",
            {"patterns": patterns(b"\3\1\0"), "numbers": b"\0\1\x10"},
        ),
        ("mark", "A pattern does not break off.", "breaks off", {"patterns": patterns(b"a\5\0")}),
        ("cut", "All pieces are there.", "break off", {"patterns": b""}),
        ("more", "Nothing is behind the last piece.", "do not end", {"more": b"\0"}),
        ("size", "The entries have the size of the block.", "not as large", {"sizes": b"\0\0"}),
        ("path", "A path of an entry is one.", "upwards", {"patterns": patterns(b"../a\0")}),
        ("type", "An entry is a file, a folder or a link.", "nothing that", {"modes": b"\0\0"}),
    ):
        yield Bad(
            f"bad-rows-second-{name}", sentence, D, words, partial(of_second_form, second(**others))
        )
    for name, sentence, words, rows in (
        ("frame", "The rows are one zstd frame.", "malformed", b"\2rows"),
        (
            "huge",
            "The rows have at most 8388608 bytes.",
            "8388609 bytes",
            b"\2" + zstandard.ZstdCompressor().compress(bytes((8 << 20) + 1)),
        ),
        (
            "long",
            "Paths have at most 524288 bytes together.",
            "longer paths",
            second(patterns=patterns(b"a" * (512 << 10) + b"\0")),
        ),
    ):
        yield Bad(f"bad-rows-second-{name}", sentence, D, words, partial(of_second_form, rows))


def archives() -> Iterator[Bad]:
    """Rules of ARCHIVE and ENTRIES; short members stand for all."""
    path = 5 + 4 + 8 + 8 + 8 + 2
    for name, sentence, words, rows in (
        ("none", "Each block of a shared member lists its entries.", "malformed", None),
        ("size", "The entries have the size of the block.", "not as large", encode_first([])),
        ("check", "The bytes of an entry have its check.", "checksum of a", bent(25, b"?")),
        ("path", "A path of an entry is one.", "absolute", bent(path, b"/")),
        ("type", "An entry is a file, a folder or a link.", "nothing that", bent(6, b"\x11")),
        ("shared", "A path shares what there is.", "shares more", bent(path - 2, b"\1")),
        ("owners", "Columns are whole.", "malformed", bent(4, b"\1")),
        ("flag", "Other bits are reserved.", "their head", bent(4, b"\2")),
        ("count", "There are as many paths as entries.", "malformed", bent(0, b"\2")),
        ("end", "The last path is ended.", "last path", bent(path + 1, b"b")),
        ("junk", "Nothing is behind the last path.", "do not end", bent(path + 1, b"\0b\0")),
        ("frame", "The rows are one zstd frame.", "malformed", b"rows"),
        (
            "huge",
            "The rows have at most 524288 bytes.",
            "1048576 bytes",
            zstandard.ZstdCompressor().compress(struct.pack("<IB", 0, 0) + bytes((1 << 20) - 5)),
        ),
    ):
        yield Bad(f"bad-rows-{name}", sentence, D, words, partial(closed, rows))
    yield from second_form()
    control = bent(path, b"\n")
    yield Bad(
        "bad-rows-control",
        "No path of the first form has control characters.",
        D,
        "control characters",
        partial(closed, control),
    )
    whole = partial(member, encode_first([FILE]))
    yield Bad(
        "bad-archive-open", "A closing member ends an archive.", T, "before the last member", whole
    )
    yield Bad(
        "bad-archive-count",
        "A closing member says how many there are before it.",
        D,
        "had 2 members",
        lambda: whole() + whole({"a": 2}),
    )
    for name, sentence, words, more in (
        ("closing", "A count is 0 or more.", "'a'", {"a": -1}),
        ("access", "An access has one or three numbers.", "'p'", {"a": 0, "p": [1, 2]}),
    ):
        yield Bad(f"bad-archive-{name}", sentence, D, words, partial(whole, more))
