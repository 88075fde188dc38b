"""Serializers that a thread keeps to read objects: one is made in less time only than a large
message is read."""

from __future__ import annotations

from collections.abc import Mapping
from threading import local
from typing import Any

from serialpack.formats.base import Style
from serialpack.serializers import reader
from serialpack.serializers.base import RecordSerializer
from serialpack.serializers.whole import of_values

#: The name of a serializer, and its parameters.
_Called = tuple[str, tuple[int, ...]]


class _KeptReaders(local):
    """Those of a thread that were asked for without options; with the settings that they have."""

    def __init__(self) -> None:
        self.readers: dict[_Called, tuple[RecordSerializer, Style]] = {}


_kept = _KeptReaders()


def kept_reader(
    called: _Called, settings: Style | None, options: Mapping[str, Any] | None
) -> RecordSerializer:
    """One that reads what ``called`` wrote; ``options`` take the place of its settings."""
    found = None if options else _kept.readers.get(called)
    if found is None or found[1] != (settings or {}):
        serializer = of_values(reader(*called))
        found = serializer, serializer.settings(options) if options else settings or {}
        serializer.configure(found[1])
        if not options:
            _kept.readers[called] = found
    return found[0]
