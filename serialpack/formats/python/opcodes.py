"""Whether bytes are pickles, told from their opcodes alone: nothing is loaded, nothing is run.

The table of opcodes is the standard library's (``pickletools``): what each reads, what it takes
from the unpickler's stack and what it leaves there. The rules of marks and of the memo are those
of the unpickler. Memory is bounded by the size of the bytes, whatever lengths they claim.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from io import BytesIO
from typing import Any, NamedTuple

from serialpack.formats.shared.document import Malformed

#: What an opcode does beside what it takes from the stack and puts there.
_NOTHING, _MARK, _TO_MARK, _POP, _PUT, _MEMOIZE, _GET, _PROTO, _FRAME, _STOP = range(10)
_DOES = {
    "MARK": _MARK,
    "POP": _POP,
    "PUT": _PUT,
    "BINPUT": _PUT,
    "LONG_BINPUT": _PUT,
    "MEMOIZE": _MEMOIZE,
    "GET": _GET,
    "BINGET": _GET,
    "LONG_BINGET": _GET,
    "PROTO": _PROTO,
    "FRAME": _FRAME,
    "STOP": _STOP,
}
_IN_PAIRS = ("DICT", "SETITEMS")
_HIGHEST_PROTOCOL = 5
#: The most marks above each other: each is a container that is not whole yet.
_MOST_MARKS = 1 << 20
#: The memo may have so many places however short the pickle is: they cost nothing.
_SMALL_MEMO = 1 << 16


def _line(file: BytesIO) -> bytes:
    line = file.readline()
    if not line.endswith(b"\n"):
        raise ValueError("its line does not end")
    return line[:-1]


def _text_line(file: BytesIO) -> str:
    return _line(file).decode()


def _two_lines(file: BytesIO) -> str:
    return f"{_text_line(file)}.{_text_line(file)}"


def _quoted_line(file: BytesIO) -> bytes:
    line = _line(file).strip()
    if len(line) < 2 or line[:1] not in (b"'", b'"') or line[:1] != line[-1:]:
        raise ValueError("its text is not in quotes")
    return line


#: How arguments are read of which ``pickletools`` takes ASCII only: names of classes are UTF-8, and
#: text of Python 2 is any bytes.
_READERS: dict[str, Callable[[BytesIO], Any]] = {
    "STRING": _quoted_line,
    "PERSID": _text_line,
    "GLOBAL": _two_lines,
    "INST": _two_lines,
}


class _Op(NamedTuple):
    """An opcode. ``takes``: how many values from the stack; of one that goes to a mark, how many
    below it."""

    name: str
    read: Callable[[BytesIO], Any] | None
    does: int
    takes: int
    leaves: int


@cache
def _table() -> dict[bytes, _Op]:
    import pickletools

    table = {}
    for op in pickletools.opcodes:
        does, takes, leaves = (
            _DOES.get(op.name, _NOTHING),
            len(op.stack_before),
            len(op.stack_after),
        )
        if pickletools.markobject in op.stack_before:
            does, takes = _TO_MARK, op.stack_before.index(pickletools.markobject)
        elif does == _MARK:  # marks are kept apart from the stack
            leaves = 0
        elif does == _PUT:  # it looks at the top, which the table does not say
            takes = leaves = 1
        read = _READERS.get(op.name, op.arg.reader if op.arg is not None else None)
        table[op.code.encode("latin-1")] = _Op(op.name, read, does, takes, leaves)
    return table


def _is_set(bits: bytearray, number: int) -> bool:
    return 0 <= number >> 3 < len(bits) and bool(bits[number >> 3] >> (number & 7) & 1)


def count_pickles(data: bytes) -> int:
    """How many pickles ``data`` is, one after another; Malformed where it is anything else."""
    file = BytesIO(data)
    count = 0
    while file.tell() < len(data):
        try:
            _read_one(file, len(data))
        except Malformed as bad:
            if _JOBLIB in data:
                said = (
                    "it is a file of joblib, with arrays among its opcodes, which joblib.load reads"
                )
                raise Malformed(said, bad.at) from None
            raise
        count += 1
    return count


#: A class of joblib, in whose files the items of an array stand behind its object.
_JOBLIB = b"joblib.numpy_pickle"


def _read_one(file: BytesIO, size: int) -> None:
    """Read one pickle, up to and including its STOP."""
    table, read = _table(), file.read
    height = floor = 0  # of the stack now, and when the last mark was put on it
    floors: list[int] = []
    # The numbers in the memo: from ``first`` up to but not including ``known``; others by a bit.
    first = known = 0
    others = bytearray()
    other = 0  # how many others
    while True:
        code = read(1)
        op = table.get(code)
        if op is None:
            what = f"there is no opcode {code!r}" if code else "it ends before its STOP"
            raise Malformed(what, file.tell() - len(code))
        name, argument, does, takes, leaves = op
        at, value = file.tell() - 1, 0
        if argument is not None:
            try:
                value = argument(file)
            except (ValueError, OverflowError) as error:
                raise Malformed(f"{name}: {error}", at) from None
        if does == _TO_MARK or (does == _POP and floors and height == floor):
            if not floors:
                raise Malformed(f"{name}: no mark is on the stack", at)
            above, height = height - floor, floors.pop()
            floor = floors[-1] if floors else 0
            if does == _POP:
                continue
            if (above % 2 and name in _IN_PAIRS) or (not above and name == "OBJ"):
                raise Malformed(f"{name}: {above} values are above the mark", at)
        if height - takes < floor:
            raise Malformed(f"{name}: the stack is empty", at)
        height += leaves - takes
        if does <= _POP:
            if does == _MARK:
                floors.append(height)
                floor = height
                if len(floors) > _MOST_MARKS:
                    raise Malformed("nested too deeply", at)
        elif does == _GET:
            if not first <= value < known and not _is_set(others, value):
                raise Malformed(f"{name}: nothing is in the memo at {value}", at)
        elif does == _STOP:
            return
        elif does in (_MEMOIZE, _PUT):
            number = value if does == _PUT else known - first + other
            if number == known:
                known += 1
            elif not 0 <= number <= max(file.tell(), _SMALL_MEMO):
                # The unpickler makes room for so many, and no pickler leaves numbers out.
                raise Malformed(f"{name}: the memo has no place {number}", at)
            elif first == known:  # Python 2 counts from 1
                first, known = number, number + 1
            elif not first <= number < known and not _is_set(others, number):
                others.extend(bytes(max(0, (number >> 3) + 1 - len(others))))
                others[number >> 3] |= 1 << (number & 7)
                other += 1
        elif does == _PROTO and value > _HIGHEST_PROTOCOL:
            raise Malformed(f"protocol {value} is not known", at)
        elif does == _FRAME and value > size - file.tell():
            raise Malformed(f"FRAME: {size - file.tell()} bytes are left of {value}", at)
