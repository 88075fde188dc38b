"""The bad and the unsupported files of rules that both envelopes have."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any

from serialpack.container.frames import write_frame
from tests.bad.draft import (
    DATA,
    MIB,
    RAW,
    D,
    Draft,
    T,
    U,
    field,
    header,
    index_field,
    nested,
    row,
    row_with,
    setting,
)


def both_envelopes() -> Iterator[tuple[str, str, str, str, Callable[[Draft], object]]]:
    """Rules of both envelopes."""
    yield "unsupported-version", "The version is 1.", U, "version 2", setting(version=2)
    yield (
        "unsupported-need",
        "A reader knows every entry of needs.",
        U,
        "'quantum', written by serialpack 0.1.0",
        header(needs=["quantum"]),
    )
    yield (
        "unsupported-serializer",
        "A stage's number is known.",
        U,
        "serializer number 999",
        (lambda d: d.header["c"].__setitem__(0, 999)),
    )
    yield (
        "unsupported-codec",
        "A stage's number is known.",
        U,
        "codec number 999",
        (lambda d: d.header["c"].__setitem__(1, 999)),
    )
    yield (
        "unsupported-filter",
        "A stage's number is known.",
        U,
        "filter number 999",
        (lambda d: d.header["c"].insert(1, 999)),
    )
    yield "unsupported-flag", "A block's flags are known.", U, "flag 64", field(1, 2, value=66)
    yield "bad-header-no-map", "The header is one map.", D, "no map", setting(header=[1, 2])
    yield (
        "bad-header-two-objects",
        "The header is one map.",
        D,
        "malformed",
        setting(body=lambda b: b + b"\xc0"),
    )
    yield (
        "bad-header-cut",
        "The header's map is whole.",
        D,
        "malformed",
        setting(body=lambda b: b[:-1]),
    )
    yield (
        "bad-header-too-long",
        "A header's body has at most 32 KiB.",
        D,
        "bytes long",
        header(m={"k": "v" * 33_000}),
    )
    yield "bad-header-nested", "A reader survives deep nesting.", D, "malformed", nested(30_000)
    yield (
        "bad-header-huge-array",
        "A reader believes no length.",
        D,
        "malformed",
        setting(body=lambda _: b"\x01\xdd\xff\xff\xff\xff"),
    )
    yield "bad-chain-missing", "A header has a chain.", D, "chain", setting(header={"w": 100})
    yield "bad-chain-short", "A chain has serializer and codec.", U, "no codec", header(c=[RAW])
    yield "bad-chain-malformed", "A stage is a number or an array.", D, "chain", header(c="raw")
    yield "bad-block-size", "A block size is 1 byte to 64 MiB.", D, "block size", header(b=0)
    yield (
        "bad-block-size-huge",
        "A block size is 1 byte to 64 MiB.",
        D,
        "block size",
        header(b=65 * MIB),
    )
    yield "bad-meta-no-map", "Each key's value has its type.", D, "'m'", header(m=[1])
    yield "bad-name-number", "A name is a string.", D, "name", header(n=7)
    yield (
        "bad-block-id",
        "A block bears its member's id.",
        D,
        "another container",
        field(1, 0, value=12345),
    )
    yield "bad-block-sequence", "Blocks count up from 0.", D, "out of order", field(1, 1, value=7)
    yield "bad-block-no-parts", "A block has a part.", D, "no parts", field(1, 7, value=[])
    yield (
        "bad-block-huge",
        "A block restores to at most 64 MiB.",
        D,
        "the most is",
        field(1, 4, value=1 << 50),
    )
    yield (
        "bad-part-huge",
        "A block restores to at most 64 MiB.",
        D,
        "the most is",
        field(1, "part", 1, value=2**64 - 1),
    )
    yield (
        "bad-part-stored",
        "A part's stored size has a bound.",
        D,
        "to restore",
        field(1, "part", 0, value=1 << 40),
    )
    yield "bad-size-negative", "Sizes are counts.", D, "malformed", field(1, 4, value=-1)
    yield "bad-size-float", "Sizes are whole numbers.", D, "malformed", field(1, 4, value=1.5)
    yield (
        "bad-records",
        "A block has at most 67108864 records.",
        D,
        "records",
        field(1, 3, value=10**9),
    )
    yield (
        "bad-records-one-more",
        "A block has at most 67108864 records.",
        D,
        "has 67108865 records",
        field(1, 3, value=64 * MIB + 1),
    )
    yield (
        "bad-serialized-huge",
        "A block has at most 67125312 serialized bytes.",
        D,
        "has 67125313 serialized bytes",
        field(0, "part", 1, value=64 * MIB + 16384 + 64 + 1),
    )
    yield (
        "bad-stored-checksum",
        "A part's stored bytes have its checksum.",
        D,
        "checksum",
        field(1, "part", 2, value=1),
    )
    yield (
        "bad-content-checksum",
        "What is restored has its checksum.",
        D,
        "content",
        field(1, 5, value=1),
    )
    yield (
        "bad-exact-size",
        "An exact block restores to its size.",
        D,
        "restores to",
        (lambda d: [d.fixed.update({(1, 4): 60}), setting(fields=_smaller)(d)]),
    )
    yield "bad-digest", "The whole has the index's digest.", D, "digest", setting(digest=bytes(16))
    yield (
        "bad-blocks-dropped",
        "No block is missing.",
        D,
        "missing",
        setting(blocks=lambda b: b[:1]),
    )
    yield (
        "bad-blocks-swapped",
        "Blocks stand in order.",
        D,
        "out of order",
        setting(blocks=lambda b: b[::-1]),
    )
    yield (
        "bad-blocks-doubled",
        "No block stands twice.",
        D,
        "doubled",
        setting(blocks=lambda b: [b[0], *b]),
    )
    yield "bad-no-index", "An index follows the blocks.", D, "", setting(index=lambda _: b"")
    yield (
        "bad-index-header",
        "The index repeats the header.",
        D,
        "disagree",
        index_field(3, b"\x01\x80"),
    )
    yield "bad-index-rows", "The index has a row for each block.", D, "", index_field(1, [])
    for name, covered in (("few", [2, "a"]), ("count", [-1, "a", "b"]), ("path", [2, "a", 5])):
        sentence = "A row covers a count of entries, from path to path."
        yield f"bad-index-covered-{name}", sentence, D, "malformed", row_with(0, covered)
    yield "bad-index-totals", "Totals are the rows' sums.", D, "totals", index_field(5, 1)
    yield (
        "bad-index-check",
        "A row has its block header's checksum.",
        D,
        "not the block",
        row(1, 6, 5),
    )
    yield "bad-index-continues", "An index goes on as it says.", D, "", index_field(0, 1)
    yield "bad-index-frames", "An index counts its frames.", D, "frames", index_field(2, 2)
    yield "bad-index-frames-float", "Counts are integers.", D, "malformed", index_field(2, 1.0)
    for name, sentence, words, path in [
        ("upwards", "A path has no part '..'.", "upwards", "a/../../b"),
        ("absolute", "A path is relative.", "absolute", "/etc/a"),
        ("empty", "A path has a part.", "empty", ""),
        ("dot", "A path has no part '.'.", "part", "a/./b"),
        ("slashes", "A path has no empty part.", "part", "a//b"),
        ("folder", "A path does not end in a slash.", "part", "a/"),
        ("control", "A path has no control characters.", "control", "a\nb"),
        ("nul", "A path has no control characters.", "control", b"\xff\x00"),
        ("number", "A path is a string.", "name", 7),
        ("nil", "A path is a string.", "empty", None),
    ]:
        yield f"bad-entry-{name}", sentence, D, words, header(e=path, needs=["entry"])
    yield "bad-entry-no-need", "An entry needs its feature.", D, "'needs'", header(e="a/b")
    yield "bad-entry-no-path", "An entry has a path.", D, "'needs'", header(needs=["entry"])
    yield "bad-dictionary-no-need", "It needs its feature.", D, "'needs'", header(d=[5, "x"])
    yield "bad-dictionary-none", "It is named.", D, "'needs'", header(needs=["dict"])
    for name, value in (("short", [5]), ("check", ["5", "x"]), ("name", [5, None]), ("map", {})):
        yield (
            f"bad-dictionary-{name}",
            "A dictionary is a count and a name.",
            D,
            "'d'",
            header(d=value, needs=["dict"]),
        )
    yield "bad-needs", "Entries of needs are strings.", D, "'needs'", header(needs=[1])
    yield "bad-index-digest", "A digest has 16 bytes.", D, "digest", index_field(7, b"short")
    yield (
        "bad-block-extras",
        "A block header's second object is a map.",
        D,
        "no map",
        setting(extras=[1]),
    )
    yield (
        "bad-header-extension",
        "Bodies hold no extension types.",
        D,
        "extension",
        setting(body=lambda _: b"\x01\x81\xa1x\xc7\x00\x05"),
    )
    yield "bad-meta-number", "Values of m are strings.", D, "'m'", header(m={"k": 1})
    yield "bad-chain-bytes", "A chain is an array of integers.", D, "chain", header(c=b"\x20\x00")
    yield "bad-chain-true", "A chain is an array of integers.", D, "chain", header(c=[RAW, True])
    yield (
        "bad-end",
        "The end is what the frames before it give.",
        D,
        "end",
        setting(end=lambda e: e[:8] + bytes([e[8] ^ 1]) + e[9:]),
    )
    yield "bad-no-end", "A member has an end.", T, "truncated", setting(end=lambda _: b"")
    yield (
        "bad-junk-after",
        "Nothing follows but members.",
        D,
        "no container",
        setting(end=lambda e: e + b"junk-junk"),
    )
    yield (
        "bad-unknown-tag",
        "A frame's tag is known.",
        D,
        "tag",
        setting(index=lambda i: write_frame(b"SPKZ", i[12:-8])),
    )
    yield (
        "bad-short-frame",
        "A frame has tag and checksum.",
        D,
        "bytes long",
        setting(index=lambda _: struct.pack("<II", 0x184D2A53, 4) + b"SPKX"),
    )
    yield (
        "bad-long-frame",
        "A frame has a limit by its tag.",
        D,
        "bytes long",
        setting(index=lambda _: struct.pack("<II", 0x184D2A53, 2**32 - 1) + b"SPKX"),
    )
    yield (
        "bad-foreign-frame",
        "Only frames of this format stand here.",
        D,
        "no frame",
        setting(index=lambda i: struct.pack("<II", 0x184D2A50, 8) + bytes(8) + i),
    )


def _smaller(fields: list[Any]) -> list[Any]:
    """Index totals for a block that says it restores to 60 bytes."""
    rows = fields[1]
    rows[1][5] = len(DATA[1])
    fields[5] = sum(r[4] for r in rows)
    return fields
