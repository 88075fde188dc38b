"""Makes the bad and the unsupported files: each breaks one rule of man/spk.5, and no other.

``python tests/bad/make.py`` writes those that are not there yet, with a line each in
MANIFEST.tsv, and never changes one that is. All checksums in them are right, unless a wrong one
is what the file is for: what is tested is the rule, not the checksum.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import zstandard
from xxhash import xxh3_128_digest

from serialpack.container.ends import seek_table, trailer
from serialpack.container.frames import (
    BLOCK,
    HEADER,
    INDEX,
    START_OWN,
    START_ZSTD,
    checksum,
    pack_body,
    write_frame,
)

HERE = Path(__file__).parent
MANIFEST = HERE / "MANIFEST.tsv"

DATA = [b'{"id": 1, "name": "one"}\n' * 3, b'{"id": 2, "name": "two"}\n' * 3]
RAW, JSON, NONE, ZSTD, XZ = 32, 33, 0, 1, 4
MIB = 1 << 20


class Draft:
    """A sound container of two blocks, whose parts can be bent before it is put together.

    ``fixed`` overrides fields of a block header: (block, field) -> value, or (block, "part",
    field) for its only part. The functions are given what would be written, and give what is.
    """

    def __init__(self, *, zstd: bool) -> None:
        self.zstd = zstd
        self.start = START_ZSTD if zstd else START_OWN
        self.version = 1
        codec = [ZSTD, 3] if zstd else NONE
        self.header: Any = {"c": [RAW, codec], "f": 2, "n": "x.ndjson", "w": 100}
        self.payload = [_frame(d) if zstd else d for d in DATA]
        self.flags = [2, 2]
        self.fixed: dict[tuple[int | str, ...], Any] = {}
        self.extras: Any = None
        self.part_chain: Any = None
        self.fields: Callable[[list[Any]], list[Any]] = lambda fields: fields
        self.blocks: Callable[[list[bytes]], list[bytes]] = lambda blocks: blocks
        self.index: Callable[[bytes], bytes] = lambda index: index
        self.end: Callable[[bytes], bytes] = lambda end: end
        self.body: Callable[[bytes], bytes] = lambda body: body
        self.digest = xxh3_128_digest(b"".join(DATA))

    def build(self) -> bytes:
        """The container."""
        body = self.body(bytes([self.version]) + pack_body(self.header))
        member = checksum(HEADER + body)
        head = write_frame(HEADER, body)
        sizes = [(len(self.start), 0), (len(head), 0)]
        blocks, rows = [], []
        for seq, payload in enumerate(self.payload):
            part = [len(payload), len(DATA[seq]), checksum(payload)]
            for field, value in self._of(seq, "part"):
                part[field] = value
            fixed: list[Any] = [member, seq, self.flags[seq], 3, len(DATA[seq])]
            fixed += [checksum(DATA[seq]), None, [part]]
            for field, value in self._of(seq):
                fixed[field] = value
            if self.part_chain is not None:
                part.append(self.part_chain)
            more = [] if self.extras is None else [self.extras]
            frame = write_frame(BLOCK, pack_body(fixed, *more))
            blocks.append(frame + payload)
            sizes += [(len(frame), 0), (len(payload), len(DATA[seq]))]
            check = int.from_bytes(frame[-8:], "little")
            rows.append([len(frame), len(payload), fixed[2], fixed[3], fixed[4], None, check])
        total = sum(map(len, DATA))
        fields = [0, rows, 1, body, 6, total, total, self.digest]
        index = self.index(write_frame(INDEX, pack_body(self.fields(fields))))
        sizes.append((len(index), 0))
        body_bytes = self.start + head + b"".join(self.blocks(blocks)) + index
        end = seek_table(sizes) if self.zstd else trailer(len(index), len(body_bytes) + 32)
        return body_bytes + self.end(end)

    def _of(self, seq: int, *kind: str) -> Iterator[tuple[int, Any]]:
        for key, value in self.fixed.items():
            if key[:-1] == (seq, *kind):
                yield int(key[-1]), value


def _frame(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(level=3, write_checksum=True).compress(data)


class Bad(NamedTuple):
    """One file: its name, the rule it breaks, the error (class, words) and how it is made."""

    name: str
    sentence: str
    error: str
    words: str
    make: Callable[[], bytes]


def bent(bend: Callable[[Draft], object], *, zstd: bool = True) -> Callable[[], bytes]:
    """A draft with one thing bent."""

    def make() -> bytes:
        draft = Draft(zstd=zstd)
        bend(draft)
        return draft.build()

    return make


def setting(**values: Any) -> Callable[[Draft], object]:
    return lambda draft: vars(draft).update(values)


def header(**values: Any) -> Callable[[Draft], object]:
    return lambda draft: draft.header.update(values)


def field(*key: int | str, value: Any) -> Callable[[Draft], object]:
    """Set a field of a block header: 0 id, 1 seq, 2 flags, 3 records, 4 size, 5 check,
    6 source check, 7 parts; of its part: 0 stored, 1 restored, 2 check."""
    return lambda draft: draft.fixed.update({key: value})


def index_field(number: int, value: Any) -> Callable[[Draft], object]:
    """Set a field of the index: 0 left, 1 rows, 2 frames, 3 header, 4 records, 5 size,
    6 serialized, 7 digest."""

    def bend(draft: Draft) -> None:
        draft.fields = lambda fields: [*fields[:number], value, *fields[number + 1 :]]

    return bend


def row(number: int, place: int, value: Any) -> Callable[[Draft], object]:
    """Set a field of an index row: 0 frame, 1 payload, 2 flags, 3 records, 4 size,
    5 serialized, 6 check."""

    def change(fields: list[Any]) -> list[Any]:
        fields[1][number][place] = value
        return fields

    return setting(fields=change)


def payload(data: bytes) -> Callable[[Draft], object]:
    return lambda draft: draft.payload.__setitem__(1, data)


def nested(depth: int) -> Callable[[Draft], object]:
    return setting(body=lambda _: b"\x01" + b"\x91" * depth + b"\xc0")


D, U, T, N = "DamagedError", "UnsupportedError", "TruncatedError", "NotContainerError"


def bad_files() -> Iterator[Bad]:
    """Every file there must be."""
    for zstd, name in ((True, "zstd"), (False, "own")):
        for bad in _either():
            made = bent(bad[4], zstd=zstd)
            yield Bad(f"{bad[0]}-{name}", bad[1], bad[2], bad[3], made)
    yield from _one()
    sound = bent(lambda _: None)
    yield Bad("bad-empty-file", "A file holds at least one member.", N, "empty", lambda: b"")
    yield Bad(
        "bad-only-the-start", "A header follows the start.", T, "truncated", lambda: START_OWN
    )
    yield Bad(
        "bad-plain-zstd",
        "The empty zstd frame is followed by a header, else it is zstd's own file.",
        N,
        "zstd",
        lambda: _frame(b"plain"),
    )
    yield Bad(
        "bad-header-as-second-member",
        "A second member must be whole too.",
        T,
        "truncated",
        lambda: sound() + sound()[:40],
    )
    yield Bad(
        "bad-entry-among-files",
        "All members are entries, or none is.",
        D,
        "among members",
        lambda: sound() + bent(header(e="a/b", needs=["entry"]))(),
    )
    yield Bad(
        "bad-junk-between-members",
        "Nothing stands between members.",
        D,
        "no container",
        lambda: sound() + b"junk" + sound(),
    )


def _either() -> Iterator[tuple[str, str, str, str, Callable[[Draft], object]]]:
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


def _one() -> Iterator[Bad]:
    """Rules of one envelope."""
    big = _frame(bytes(2 * MIB))
    streamed = zstandard.ZstdCompressor(write_content_size=False, write_checksum=True)
    plain = zstandard.ZstdCompressor(write_checksum=False)
    for name, sentence, words, data in [
        ("bad-zstd-bomb", "A frame's content size is the part's.", "block header says", big),
        (
            "bad-zstd-no-size",
            "A zstd frame has a content size.",
            "payload",
            streamed.compress(DATA[1]),
        ),
        (
            "bad-zstd-no-checksum",
            "A zstd frame has zstd's checksum.",
            "payload",
            plain.compress(DATA[1]),
        ),
        ("bad-zstd-junk", "A part is one zstd frame.", "payload", b"\0" * 30),
        ("bad-zstd-cut", "A zstd frame is whole.", "payload", _frame(DATA[1])[:-1]),
        ("bad-zstd-two-frames", "A part is one zstd frame.", "payload", _frame(DATA[1]) * 2),
    ]:
        yield Bad(name, sentence, D, words, bent(payload(data)))
    yield Bad(
        "bad-envelope-zstd",
        "The zstd envelope's chain ends in zstd.",
        D,
        "envelope",
        bent(header(c=[RAW, [XZ, 6]])),
    )
    yield Bad(
        "bad-envelope-own",
        "A chain of a serializer and zstd has the zstd envelope.",
        D,
        "envelope",
        bent(header(c=[RAW, [ZSTD, 3]]), zstd=False),
    )
    yield Bad(
        "bad-stored-sizes",
        "A stored part's two sizes are one.",
        D,
        "two sizes",
        bent(
            lambda d: [d.flags.__setitem__(1, 3), payload(DATA[1] + b"x")(d)],
            zstd=False,
        ),
    )
    yield Bad(
        "unsupported-format",
        "A format's number is known, unless the serializer is raw.",
        U,
        "format number 999",
        bent(header(f=999, c=[JSON, [ZSTD, 3]])),
    )
    yield Bad(
        "unsupported-format-without-values",
        "A serializer of values holds only formats that have some.",
        U,
        "json to hold bytes",
        bent(header(f=0, c=[JSON, [ZSTD, 3]])),
    )
    yield Bad(
        "unsupported-part-chain",
        "A reader that knows no chains of parts says so.",
        U,
        "chain of their own",
        bent(setting(part_chain=[[RAW], [ZSTD, 3]])),
    )
    yield Bad(
        "bad-raw-not-exact",
        "Blocks of the serializer raw are exact.",
        D,
        "not exact",
        bent(lambda d: d.flags.__setitem__(1, 0)),
    )
    yield Bad(
        "bad-block-spelling",
        "A block's spelling is a map.",
        D,
        "values cannot be read",
        bent(lambda d: [header(c=[JSON, [ZSTD, 3]])(d), setting(extras={"s": 5})(d)]),
    )
    yield Bad(
        "bad-xz-payload",
        "A payload is what its codec writes.",
        D,
        "payload",
        bent(header(c=[RAW, [XZ, 6]]), zstd=False),
    )


def listed() -> dict[str, list[str]]:
    """The manifest: file name -> its fields."""
    if not MANIFEST.exists():
        return {}
    rows = [line.split("\t") for line in MANIFEST.read_text(encoding="utf-8").splitlines()[1:]]
    return {r[0]: r for r in rows}


def main() -> None:
    known = listed()
    with MANIFEST.open("a", encoding="utf-8", newline="\n") as manifest:
        if not known:
            manifest.write("file\tsha256\terror\twords\tthe rule it breaks\n")
        for bad in bad_files():
            file = f"{bad.name}.spk"
            if file in known:
                continue
            data = bad.make()
            (HERE / file).write_bytes(data)
            digest = hashlib.sha256(data).hexdigest()
            manifest.write(f"{file}\t{digest}\t{bad.error}\t{bad.words}\t{bad.sentence}\n")
            print(file)


if __name__ == "__main__":
    main()
