"""What a UUID of Python says beside its digits: whether the system that made it vouches for it.

``uuid.uuid1()`` has such a word on most systems (``is_safe``), by which Python itself takes no two
for different, and which no format has a place for but those of Python's objects.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID, SafeUUID

from serialpack.conversion.losses.losses import Losses
from serialpack.depth.values import by_level
from serialpack.formats.losses.changes import Changer
from serialpack.values.kinds import SAFETY


def without_safety(records: list[Any], losses: Losses, first_record: int, target: str) -> list[Any]:
    """The records with plain UUIDs, counted; ValueRefusedError where that is not allowed."""
    if not any(
        kind is UUID or len(values) != sum(map(len, some))  # keys that are no text
        for some, values, kinds in by_level(records)
        for kind in kinds
    ):
        return records
    dropper = _Dropper()
    made = dropper.changed(records, first_record)
    losses.carry(dropper.losses(), target)
    return made


class _Dropper(Changer):
    plain = frozenset({type(None), bool, int, float, str, bytes})
    plain_keys = plain

    def value(self, value: Any) -> Any:
        if type(value) is not UUID or value.is_safe is SafeUUID.unknown:
            return value
        self.note(SAFETY, value.is_safe, "nothing")
        return UUID(int=value.int)

    def key(self, key: Any) -> Any:
        return self.value(key)
