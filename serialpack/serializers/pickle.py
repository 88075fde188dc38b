"""pickle: Python's own pickles, one for each record."""

from __future__ import annotations

import pickle
import re
from typing import Any, ClassVar

from serialpack.collector import FEW
from serialpack.depth.values import check_graph
from serialpack.formats.python.buffers import is_framed, whole_frame
from serialpack.formats.python.pickle import (
    PROTOCOL,
    dump_beside,
    dump_pickles,
    load_alone,
    load_pickles,
)
from serialpack.serializers._unsafe import UnsafeSerializer
from serialpack.serializers.base import in_one
from serialpack.serializers.holders import Holders
from serialpack.stages.stage import Buffer, Param, is_installed
from serialpack.values.kinds import AN_ERROR, NEVER, TEXT_KINDS, Difference

#: What Python says of a lock or a connection, which C code keeps. cloudpickle refuses these too,
#: but for a few types of Python's own.
_BY_NOBODY = re.compile(r"cannot pickle '(?!property|cell|(static|class)method)[\w.]+' object")


class PickleSerializer(UnsafeSerializer):
    """Any object whose class tells how to pickle it, with its cycles and shared references.

    The large buffers of an object (those of arrays) stand beside its pickle, from protocol 5 on.
    """

    stored_format = "pickle"
    cannot = TEXT_KINDS | {"depth"}
    partly = frozenset({"number-array", "tag", "object"})
    identity = True
    holds_objects = True
    params: ClassVar[tuple[Param, ...]] = (Param("protocol", 0, PROTOCOL, PROTOCOL),)
    written_in_c = True
    about = "Python pickles: objects of any class; unpacked with --trust only"

    def __init__(self, name: str, values: tuple[int, ...] = ()) -> None:
        super().__init__(name, values)
        self.pickles = not values or values[0] == PROTOCOL

    def _dump(self, records: list[Any]) -> bytes:
        return dump_pickles(records, self.values[0])

    def dump_object(self, records: list[Any]) -> list[Buffer]:
        check_graph(records)
        return [dump_beside(records[0]) if self.pickles else self._dump(records)]

    def _load(self, data: Buffer) -> list[Any]:
        return load_pickles(data)

    def blame_one(self, record: Any, error: Exception) -> Difference:
        lost = super().blame_one(record, error)
        if lost.kind in NEVER or lost.because:
            return lost
        became = AN_ERROR if self.failure([record], reads=False) is None else ""
        return lost._replace(became=became, because=str(error))

    def way_out(self, lost: Difference, *, raw: bool) -> str | Holders:
        if lost.instead is None and _BY_NOBODY.fullmatch(lost.because):
            return Holders()
        if lost.became and lost.because:  # cloudpickle asks as pickle does
            return "its class tells pickle how to make it again, and that fails"
        return super().way_out(lost, raw=raw)

    def who_can(self, kind: str, *, raw: bool) -> Holders:
        if raw or kind == "function" or kind in NEVER:
            return super().who_can(kind, raw=raw)
        # What a class does not tell pickle, it tells nobody.
        others = [each for each in ("cloudpickle",) if each != self.name and is_installed(each)]
        return Holders((*others,), sure=False)

    def reload_object(self, pieces: list[Buffer]) -> list[Any]:
        data = in_one(pieces)
        if type(data) is bytes or not is_framed(data):
            try:
                return [pickle.loads(data)]  # one, of which nobody needs to see the end
            except (Exception, SystemExit):  # a class's; ``load_object`` says which
                pass
        return self.load_object(pieces)

    def load_object(self, pieces: list[Buffer]) -> list[Any]:
        data = pieces[0] if len(pieces) == 1 else b""
        if type(data) is bytes and len(data) <= FEW:
            alone = load_alone(data)
            if alone is not None:
                return alone
        whole = whole_frame(pieces)
        if whole is None:
            return load_pickles(in_one(pieces))
        return load_pickles(whole, in_place=True)
