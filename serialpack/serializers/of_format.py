"""Serializers that leave the work to the format of the same name."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, cast

from serialpack.errors import RefusedError
from serialpack.formats import FORMATS
from serialpack.formats.base import Unheld
from serialpack.formats.shared.document import DocumentFormat
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.base import RecordSerializer
from serialpack.stages.stage import Buffer


def read_stored(read: Callable[[bytes], list[Any]], data: Buffer) -> list[Any]:
    """The records that ``read``, of a format, finds in stored bytes; ValueError for any fault."""
    try:
        return read(bytes(data))
    except Unheld as unheld:
        lost = unheld.difference
        raise ValueError(f"record {lost.record}, {lost.value_path}: {lost.was}") from None
    except RefusedError as error:
        raise ValueError(error.said) from None


class FormatSerializer(RecordSerializer):
    """A serializer whose work the format of its name does; subclasses declare what it holds."""

    @property
    def format(self) -> DocumentFormat:
        """What reads and writes its bytes."""
        return cast(DocumentFormat, FORMATS.get(self.stored_format))

    def _dump(self, records: list[Any]) -> bytes:
        return self.format.write_stored(records)

    def _load(self, data: Buffer) -> list[Any]:
        return read_stored(self.format.read_stored, data)


@cache
def record_serializer(name: str) -> type[RecordSerializer] | None:
    """The serializer of that name or, for a format without one, one that leaves all to the format.

    None where neither writes records.
    """
    own = name in FORMATS and FORMATS.declaration(name).own_writer
    if name in SERIALIZERS and not own:
        cls = SERIALIZERS.cls(name)
        return cls if issubclass(cls, RecordSerializer) else None
    fmt = FORMATS.get(name) if name in FORMATS else None
    if not isinstance(fmt, DocumentFormat):
        return None
    facts: dict[str, Any] = {"stored_format": name, "safe": fmt.safe}
    facts.update(cannot=fmt.cannot, partly=fmt.partly)
    return type("GenericSerializer", (FormatSerializer,), facts)
