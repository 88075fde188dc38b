"""Serializers that leave the work to the format of the same name."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from serialpack.errors import RefusedError
from serialpack.formats.base import Unheld
from serialpack.serializers.base import RecordSerializer
from serialpack.stages.stage import Buffer


def read_stored(read: Callable[[bytes], list[Any]], data: Buffer) -> list[Any]:
    """What ``read``, of a format, finds in stored bytes; whatever is wrong is a ValueError."""
    try:
        return read(bytes(data))
    except Unheld as unheld:
        lost = unheld.difference
        raise ValueError(f"record {lost.record}, {lost.value_path}: {lost.was}") from None
    except RefusedError as error:
        raise ValueError(str(error)) from None


class StoredSerializer(RecordSerializer):
    """A serializer whose stored bytes a format reads that is written in Python."""

    @abstractmethod
    def read(self, data: bytes) -> list[Any]:
        """The records in ``data``, as the format reads them, and with its errors."""

    def _load(self, data: Buffer) -> list[Any]:
        return read_stored(self.read, data)
