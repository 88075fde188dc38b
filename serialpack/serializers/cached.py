"""Keeps the serializers by which a thread reads objects: making one takes longer than reading most
messages."""

from __future__ import annotations

from collections.abc import Mapping
from threading import local
from typing import Any

from serialpack.formats.base import Style
from serialpack.serializers import reader
from serialpack.serializers.base import RecordSerializer
from serialpack.serializers.one_object import of_values

#: The name of a serializer, and its parameters.
_Called = tuple[str, tuple[int, ...]]


class _KeptReaders(local):
    """The readers of a thread that were asked for without options, and their settings."""

    def __init__(self) -> None:
        self.readers: dict[_Called, tuple[RecordSerializer, Style | None]] = {}


_kept = _KeptReaders()


def kept_reader(
    called: _Called, settings: Style | None, options: Mapping[str, Any] | None
) -> RecordSerializer:
    """A serializer that reads what ``called`` wrote. ``options``: the user's, in place of
    ``settings``, those of the header."""
    found = None if options else _kept.readers.get(called)
    if found is None or found[1] != settings:
        serializer = of_values(reader(*called))
        serializer.configure(serializer.settings(options) if options else settings or {})
        found = serializer, settings
        if not options:
            _kept.readers[called] = found
    return found[0]
