"""The bad and the unsupported files of rules that one envelope has."""

from __future__ import annotations

from collections.abc import Iterator

import zstandard

from tests.bad.draft import (
    DATA,
    JSON,
    MIB,
    RAW,
    XZ,
    ZSTD,
    Bad,
    D,
    U,
    bent,
    header,
    payload,
    setting,
    zstd_frame,
)


def one_envelope() -> Iterator[Bad]:
    """Rules of one envelope."""
    big = zstd_frame(bytes(2 * MIB))
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
        ("bad-zstd-cut", "A zstd frame is whole.", "payload", zstd_frame(DATA[1])[:-1]),
        ("bad-zstd-two-frames", "A part is one zstd frame.", "payload", zstd_frame(DATA[1]) * 2),
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
