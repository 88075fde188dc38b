"""The golden files of filters: each alone before several codecs, and some together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from serialpack.filters import FILTERS

#: Of each its name, its source, how it is packed, and what it is.
Filtered = tuple[str, str, dict[str, Any], str]


def filtered() -> Iterator[Filtered]:
    """What each registered filter makes, and what several do one after another."""
    for entry in FILTERS:
        for codec in ("zstd", "none", "zlib", "blosc-lz4"):
            yield (
                f"raw+{entry.name}+{codec}",
                "numbers",
                {"filters": (entry.name,), "codec": codec},
                f"filter {entry.name} before codec {codec}",
            )
        yield (
            f"raw+{entry.name}-odd",
            "odd",
            {"filters": (entry.name,), "codec": "zstd"},
            f"filter {entry.name} over a length that its items do not fill",
        )
    yield (
        "raw+delta+shuffle",
        "numbers",
        {"filters": ("delta:4", "shuffle:4"), "codec": "xz:1"},
        "two filters, undone in reverse order",
    )
    yield (
        "raw+lorenzo",
        "numbers",
        {
            "filters": ("ordered:4", "delta:4", "delta:4@25", "zigzag:4", "shuffle:4"),
            "codec": "zstd",
        },
        "differences of neighbours in two dimensions",
    )
    yield (
        "raw+transpose-rows",
        "numbers",
        {"filters": ("transpose:4@25", "xor:4@20"), "codec": "pcodec@u4"},
        "filters whose second parameter is set, before pcodec told of its type",
    )
    yield (
        "raw+scaled-tenths",
        "tenths",
        {"filters": ("scaled:8@10", "delta:8", "scaled:4@3/times"), "codec": "zstd"},
        "floats as counts of a unit, whose parameters are set",
    )
