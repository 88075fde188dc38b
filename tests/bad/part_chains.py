"""The bad files of parts with a chain of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tests.bad.draft import (
    DATA,
    JSON,
    NONE,
    RAW,
    ZSTD,
    Bad,
    D,
    Draft,
    U,
    bent,
    payload,
    setting,
    zstd_frame,
)


def part_chains() -> Iterator[Bad]:
    """Rules of the chain of a part, in the own envelope."""

    def own(chain: list[Any], *more: Callable[[Draft], object]) -> Callable[[], bytes]:
        changes = (setting(part_chain=chain), *more)
        return bent(lambda draft: [change(draft) for change in changes], zstd=False)

    frames = setting(payload=[zstd_frame(data) for data in DATA])
    for name, sentence, error, words, made in (
        (
            "bad-part-chain-serializer",
            "The serializer of a part is that of the header.",
            D,
            "does not belong in its block",
            own([JSON, NONE]),
        ),
        (
            "bad-part-chain-stored",
            "A part of a block flagged stored has no chain.",
            D,
            "does not belong in its block",
            own([RAW, NONE], setting(flags=[3, 3])),
        ),
        (
            "bad-part-chain-sizes",
            "A part under codec none has one size.",
            D,
            "payload",
            own([RAW, NONE], payload(DATA[1] + b"x")),
        ),
        (
            "bad-part-chain-codec",
            "A part is undone by its own codec.",
            D,
            "payload",
            own([RAW, [ZSTD, 3]]),
        ),
        (
            "unsupported-part-chain-stage",
            "The stages of a part are in their tables.",
            U,
            "filter number 255",
            own([RAW, 255, [ZSTD, 3]], frames),
        ),
        (
            "unsupported-part-chain-length",
            "A part's chain has a codec.",
            U,
            "no codec",
            own([RAW]),
        ),
    ):
        yield Bad(name, sentence, error, words, made)
