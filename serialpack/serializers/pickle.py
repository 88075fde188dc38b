"""pickle: Python's own pickles, one for each record."""

from __future__ import annotations

from typing import Any, ClassVar

from serialpack.formats.pickle import PROTOCOL, dump_pickles, load_pickles
from serialpack.kinds import TEXT_KINDS
from serialpack.serializers._unsafe import UnsafeSerializer
from serialpack.stage import Buffer, Param


class Pickle(UnsafeSerializer):
    """Any object whose class says how, with its cycles and shared references.

    Large buffers stand in the pickle itself, which any ``pickle.load`` reads.
    """

    stored_format = "pickle"
    cannot = TEXT_KINDS | {"depth"}
    partly = frozenset({"number-array", "object"})
    identity = True
    params: ClassVar[tuple[Param, ...]] = (Param("protocol", 0, PROTOCOL, PROTOCOL),)
    about = "Python pickles: objects of any class; unpacked with --trust only"

    def dump(self, records: list[Any]) -> bytes:
        return dump_pickles(records, self.values[0])

    def load(self, data: Buffer) -> list[Any]:
        return load_pickles(data)
