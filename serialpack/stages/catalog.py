"""Every stage there is, as data: for ``inspect --stages``, help, completion and the docs."""

from __future__ import annotations

from importlib import metadata
from typing import Any, NamedTuple

from serialpack.stages.registry import CODECS, FILTERS, SERIALIZERS
from serialpack.stages.stage import Registry, Stage
from serialpack.values.kinds import KINDS


class StageInfo(NamedTuple):
    """One stage: how it is spelled, whether it can be used here, what it can hold.

    ``install``: what to do where it is not ``installed``. ``cannot``: the kinds of values that a
    serializer refuses; ``partly``: those of which it refuses some. ``traits``: what people choose
    it by.
    """

    kind: str
    name: str
    number: int
    params: str
    installed: bool
    version: str
    install: str
    extra: str | None
    traits: list[str]
    cannot: list[str]
    partly: list[str]
    about: str


def all_stages() -> list[StageInfo]:
    """Every registered stage, in the order people read them."""
    registries: tuple[Registry[Any], ...] = (SERIALIZERS, FILTERS, CODECS)
    return [_info(registry, entry.name) for registry in registries for entry in registry]


def _info(registry: Registry[Any], name: str) -> StageInfo:
    cls: type[Stage] = registry.cls(name)
    install = cls.missing(name)
    return StageInfo(
        kind=registry.kind,
        name=name,
        number=registry.entry(name).number,
        params="".join(
            f":{p.range}" if p.mark == ":" else f"[{p.mark}{p.name}]" for p in cls.params
        ),
        installed=install is None,
        version=_version(cls) if install is None else "",
        install=install or "",
        extra=cls.extra,
        traits=[trait for trait in cls.traits if getattr(cls, trait)],
        cannot=sorted(cls.cannot),
        partly=sorted(cls.partly),
        about=cls.about,
    )


def _version(cls: type[Stage]) -> str:
    if cls.library is None:
        return "built in"
    try:
        return metadata.version(cls.distribution or cls.library)
    except metadata.PackageNotFoundError:
        return "?"


#: How the table of fidelity says that a kind of value is held, held in part, refused.
HELD, PARTLY, REFUSED = "+", "~", "-"


def fidelity() -> tuple[list[str], list[tuple[str, str, str]]]:
    """The table of fidelity: names of the serializers of values, and for each kind its row.

    A row: the kind, what messages call it, and a mark for each serializer.
    """
    found = [
        info
        for info in all_stages()
        if info.kind == SERIALIZERS.kind and "exact" not in info.traits
    ]
    rows = []
    for kind, words in KINDS.items():
        marks = (
            REFUSED if kind in info.cannot else PARTLY if kind in info.partly else HELD
            for info in found
        )
        rows.append((kind, words, "".join(marks)))
    return [info.name for info in found], rows
