"""``python -m tests.formats.endless FORMAT KIND BYTES``: reads a generated source, block by block.

Prints how many KiB the process had at most. Linux only.
"""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import Any

from serialpack.formats import FORMATS

RECORD = {"id": 1234567, "name": "a name", "tags": ["red", "green"], "note": "x" * 1000}


class Endless:
    """The same record over and over, never in memory as a whole.

    ``kind``: ``"sequence"``, ``"array"``, or ``"endless"``: an array that does not say its length.
    """

    def __init__(self, fmt: Any, kind: str, size: int) -> None:
        unit = fmt.write([RECORD])
        head = tail = b""
        each = 1
        if fmt.name == "avro":
            from serialpack.formats.avro.file import read_header

            each = 20
            file = fmt.write([RECORD] * each)
            end = read_header(file).end
            head, unit = file[:end], file[end:]
        elif fmt.name == "yaml":
            unit = b"---\n" + unit
        units = size // len(unit)
        self.count = units * each
        if kind == "array":
            head = (b"\xdd" if fmt.name == "msgpack" else b"\x9a") + units.to_bytes(4)
        elif kind == "endless":
            head, tail = b"\x9f", b"\xff"
        self._left, self._unit, self._units, self._tail = head, unit, units, tail

    def read(self, size: int) -> bytes:
        some = min(self._units, 1 + (size - len(self._left)) // len(self._unit))
        if len(self._left) < size:
            self._left += self._unit * some
            self._units -= some
        if not self._units:
            self._left, self._tail = self._left + self._tail, b""
        taken, self._left = self._left[:size], self._left[size:]
        return taken


def main(name: str, kind: str, size: str) -> None:
    fmt: Any = FORMATS.get(name)
    source = Endless(fmt, kind, int(size))
    count = 0
    gc.disable()  # as where blocks are packed
    for block in fmt.split(source.read, 4 << 20, for_values=True):
        assert block.first_record == count
        count += len(fmt.parse(block))
    assert count == source.count, (count, source.count)
    # Not ru_maxrss: that begins with what the process had that started this one.
    with Path("/proc/self/status").open() as status:
        sys.stdout.write(next(line.split()[1] for line in status if line.startswith("VmHWM")))


if __name__ == "__main__":
    main(*sys.argv[1:])
