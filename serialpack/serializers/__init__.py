"""The serializers. To add one: a class in a file here, and a line below."""

from __future__ import annotations

from serialpack.serializers.base import Serializer, hint_for
from serialpack.stage import Entry, Registry

__all__ = ["SERIALIZERS", "hint_for"]

SERIALIZERS: Registry[Serializer] = Registry(
    "serializer",
    Entry("raw", 32, "serialpack.serializers.raw:Raw"),
    Entry("json", 33, "serialpack.serializers.json:Json"),
    Entry("ujson", 34, "serialpack.serializers.ujson:UJson"),
    Entry("msgpack", 35, "serialpack.serializers.msgpack:MsgPack"),
)
