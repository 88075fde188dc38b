"""Which serializers hold a kind of value, by their declarations: for hints."""

from typing import NamedTuple

from serialpack.stages.registry import SERIALIZERS


class Holders(NamedTuple):
    """Serializers that hold a kind of value, the first choice first; not ``sure``: some of it. As
    text a hint: ``json or raw can``, ``objects or pickle may``."""

    names: tuple[str, ...] = ()
    sure: bool = True

    def __str__(self) -> str:
        if not self.names:
            return "no serializer here can"
        *others, last = self.names
        listed = f"{', '.join(others)} or {last}" if others else last
        return f"{listed} can" if self.sure else f"{listed} may"


def holders(kind: str, *, raw: bool = True, but: str = "") -> Holders:
    """Which serializers can hold what ``kind`` names, one of each format.

    Those that need nothing installed and are safe to read come first. ``raw``: the bytes of a
    source can be kept too. ``but``: who has just refused it. Where none holds all of that kind,
    those that hold some.
    """
    able: dict[str | None, tuple[bool, bool, str]] = {}
    perhaps: dict[str | None, tuple[bool, bool, str]] = {}
    for entry in SERIALIZERS:
        cls = SERIALIZERS.cls(entry.name)
        if (
            cls.exact
            or entry.name == but
            or kind in cls.cannot | cls.seldom
            or cls.missing(entry.name) is not None
        ):
            continue
        found = perhaps if kind in cls.partly else able
        found.setdefault(cls.stored_format, (not cls.safe, cls.extra is not None, entry.name))
    sure = bool(able) or raw
    in_order = sorted((able if sure else perhaps).values(), key=lambda rank: rank[:2])
    names = [name for *_, name in in_order[: 2 if raw else 3]]
    return Holders((*names, "raw") if raw else (*names,), sure)
