"""The bad files of archives whose entries share blocks."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import partial
from typing import Any

import zstandard

from serialpack.container.frames import checksum
from serialpack.container.rows import EntryRow, encode_rows
from tests.bad.draft import DATA, Bad, D, T
from tests.bad.short import NAME, REST, built

ENTRIES = REST + 1
FILE = EntryRow("a", 0o100644, 5, len(DATA[0]), checksum(DATA[0]))


def member(rows: Any, more: dict[str, Any] | None = None) -> bytes:
    """A short member with these rows; ``more``: other keys of its header."""
    return built({NAME: None, REST: {"needs": ["archive"], **(more or {})}, ENTRIES: rows})


def closed(rows: Any) -> bytes:
    """A member with these rows, which is all of an archive."""
    return member(rows, {"a": 0})


def bent(at: int, value: bytes) -> bytes:
    """The rows of one file, of which bytes from ``at`` on are others."""
    rows = zstandard.ZstdDecompressor().decompress(encode_rows([FILE]))
    return zstandard.ZstdCompressor().compress(rows[:at] + value + rows[at + len(value) :])


def archives() -> Iterator[Bad]:
    """Rules of ARCHIVE and ENTRIES; short members stand for all."""
    path = 5 + 4 + 8 + 8 + 8 + 2
    for name, sentence, words, rows in (
        ("none", "Each block of a shared member lists its entries.", "malformed", None),
        ("size", "The entries have the size of the block.", "not as large", encode_rows([])),
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
    whole = partial(member, encode_rows([FILE]))
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
