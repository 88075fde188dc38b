"""Rules of man/spk.5 that the second decoder of it (``tests.spec_decoder``) asks in several places.

Capitals name sections of the page.
"""

from typing import Any

from msgpack import ExtType, Timestamp, Unpacker, UnpackException


class SpecError(Exception):
    """A file to be refused; the text says in which way, and which rule of the page it breaks."""


class Unsupported(SpecError):
    """A file that asks for what the page does not know."""


def must(holds: bool, rule: str, otherwise: str = "damaged") -> None:
    """NOTATION, Refusing."""
    if not holds:
        raise (Unsupported if otherwise == "unsupported" else SpecError)(f"{otherwise}: {rule}")


def read_objects(body: bytes) -> list[Any]:
    """FRAME, MessagePack in bodies. To UTF-8, types of keys and depth, 1024, the library sees."""
    unpacker = Unpacker(raw=False, strict_map_key=True, max_buffer_size=len(body) or 1)
    unpacker.feed(body)
    objects: list[Any] = []
    try:
        while unpacker.tell() < len(body):
            objects.append(unpacker.unpack())
    except (ValueError, UnpackException) as error:
        raise SpecError("damaged: a body is whole, valid objects") from error
    todo = [*objects]
    for item in todo:
        must(not isinstance(item, ExtType | Timestamp), "no extension types")
        todo += item if isinstance(item, list) else item.values() if isinstance(item, dict) else ()
    return objects


def array(value: Any, kinds: str, rule: str) -> list[Any]:
    """An array of these elements or more: c count, C count or nil, a array, . anything."""
    must(isinstance(value, list) and len(value) >= len(kinds), rule)
    for kind, item in zip(kinds, value, strict=False):
        count = type(item) is int and item >= 0  # a boolean is none
        right = {"c": count, "C": count or item is None, "a": isinstance(item, list), ".": True}
        must(right[kind], rule)
    return list(value)
