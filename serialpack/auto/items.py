"""The size of items that stages were named without: that of an array's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from serialpack.codecs import CODECS
from serialpack.filters import FILTERS
from serialpack.stages.chain import Chain, StageSpec, parse_stage

if TYPE_CHECKING:
    from serialpack.formats.shared.large import NumbersLayout


def open_items(filters: tuple[str, ...], codec: str) -> tuple[bool, ...]:
    """Of each of ``filters``, and of ``codec``, whether it takes the size of items, or their type,
    and is named without: ``shuffle``, ``pcodec:8``."""
    takes_type = codec.partition(":")[0] == "pcodec"
    return *(":" not in each for each in filters), takes_type and not set("@/=") & set(codec)


def for_items(chain: Chain, is_open: tuple[bool, ...], layout: NumbersLayout) -> Chain:
    """``chain`` with the size of items of ``layout`` in those stages of which it ``is_open``, where
    they take one of that size."""
    *filters, codec = (
        sized(spec, layout) if each else spec
        for spec, each in zip((*chain.filters, chain.codec), is_open, strict=True)
    )
    return chain._replace(filters=tuple(filters), codec=codec)


def sized(spec: StageSpec, layout: NumbersLayout) -> StageSpec:
    """``spec`` with the size of items of ``layout``, or their type; as it is where it takes none
    of that."""
    if spec.name == "pcodec":
        from serialpack.codecs.pcodec import MOST_START, TYPES

        if (kind := f"{layout.kind}{layout.size}") not in TYPES:
            return spec
        start = f"/{layout.start}" if 0 < layout.start <= MOST_START else ""
        return parse_stage(CODECS, f"pcodec:{spec.values[0]}@{kind}{start}")
    if not FILTERS.cls(spec.name).params[0].allows(layout.item):
        return spec
    return spec._replace(values=(layout.item, *spec.values[1:]))
