"""Every stage there is, as data: for ``inspect --stages``, help, completion and the docs."""

from __future__ import annotations

from importlib import metadata
from typing import Any, NamedTuple

from serialpack.codecs import CODECS
from serialpack.filters import FILTERS
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.base import Serializer
from serialpack.stage import Registry, Stage


class StageInfo(NamedTuple):
    """One stage: how it is spelled, whether it can be used here, what it can hold.

    ``install`` says what to do where it is not ``installed``; ``cannot`` names the losses that
    a serializer refuses; ``traits`` is what people choose by.
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
    about: str


def all_stages() -> list[StageInfo]:
    """Every registered stage, in the order people read them."""
    registries: tuple[Registry[Any], ...] = (SERIALIZERS, FILTERS, CODECS)
    return [_info(registry, entry.name) for registry in registries for entry in registry]


def _info(registry: Registry[Any], name: str) -> StageInfo:
    cls: type[Stage] = registry.cls(name)
    install = cls.missing(name)
    traits, cannot = [], []
    if issubclass(cls, Serializer):
        traits = [t for t in ("exact", "portable", "text", "safe") if getattr(cls, t)]
        cannot = sorted(cls.cannot)
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
        traits=traits,
        cannot=cannot,
        about=cls.about,
    )


def _version(cls: type[Stage]) -> str:
    if cls.library is None:
        return "built in"
    try:
        return metadata.version(cls.distribution or cls.library)
    except metadata.PackageNotFoundError:
        return "?"
