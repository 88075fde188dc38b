"""The filters. To add one: a class in a file here, and a line below."""

from __future__ import annotations

from serialpack.filters.base import Filter
from serialpack.stages.stage import Entry, Registry

FILTERS: Registry[Filter] = Registry(
    "filter",
    Entry("shuffle", 64, "serialpack.filters.shuffle:Shuffle"),
    Entry("bitshuffle", 65, "serialpack.filters.bitshuffle:BitShuffle"),
    Entry("delta", 66, "serialpack.filters.delta:Delta"),
)
