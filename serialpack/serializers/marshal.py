"""marshal: the format of Python's compiled modules; plain values and code objects."""

from __future__ import annotations

import marshal
import sys
from collections.abc import Mapping
from typing import Any

from serialpack.depth import MAX_DEPTH
from serialpack.errors import UnsupportedError
from serialpack.formats.base import Style
from serialpack.formats.python.marshal import VERSION, dump_marshal, load_marshal
from serialpack.serializers._unsafe import UnsafeSerializer
from serialpack.serializers.base import in_one
from serialpack.stages.stage import Buffer, Param
from serialpack.values.kinds import TEXT_KINDS

_HERE = f"{sys.version_info.major}.{sys.version_info.minor}"


class MarshalSerializer(UnsafeSerializer):
    """Belongs to one version of Python: code does, and the format may change with each.

    From version 3 on, what was one object is one again.
    """

    stored_format = "marshal"
    cannot = TEXT_KINDS | {
        "depth",
        *("bytearray", "decimal", "fraction", "uuid", "number-array", "tag", "function"),
        *("utc-datetime", "offset-datetime", "zoned-datetime", "local-datetime"),
        *("date", "time", "timedelta"),
    }
    partly = frozenset({"object"})
    seldom = partly  # code, and an ellipsis
    params = (Param("version", 0, VERSION, VERSION),)
    written_in_c = True
    about = "Python's marshal data, for one Python version; unpacked with --trust only"

    def __init__(self, name: str, values: tuple[int, ...] = ()) -> None:
        super().__init__(name, values)
        self.identity = self.values[0] >= 3  # type: ignore[misc]  # a class's, but of versions

    @classmethod
    def settings(cls, options: Mapping[str, Any]) -> Style:
        return {**super().settings(options), "python": _HERE}

    def configure(self, settings: Style) -> None:
        python = settings.get("python")
        if python != _HERE:
            raise UnsupportedError(
                f"marshal data of Python {python} cannot be read by Python {_HERE}",
                hint="unpack it with that version",
            )

    def dump_object(self, records: list[Any]) -> list[Buffer]:
        # The library itself stops at 2000 levels, and each takes two bytes at least.
        data = marshal.dumps(records[0], self.values[0])
        if len(data) > 2 * MAX_DEPTH:
            self.check_values(records)
        return [data]

    def _dump(self, records: list[Any]) -> bytes:
        return dump_marshal(records, self.values[0])

    def _load(self, data: Buffer) -> list[Any]:
        return load_marshal(data)

    def load_object(self, pieces: list[Buffer]) -> list[Any]:
        return load_marshal(in_one(pieces))

    def reload_object(self, pieces: list[Buffer]) -> list[Any]:
        try:
            return [marshal.loads(in_one(pieces))]  # one, of which nobody needs to see the end
        except (EOFError, SystemError):
            return self.load_object(pieces)
