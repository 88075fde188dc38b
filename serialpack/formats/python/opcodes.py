"""Whether bytes are pickles, told from their opcodes alone: nothing is loaded, nothing is run.

The table of opcodes is the standard library's (``pickletools``): what each reads, what it takes
from the unpickler's stack and what it leaves there. The rules of marks and of the memo are those
of the unpickler. Memory is bounded by the size of the bytes, whatever lengths they claim.
"""

from __future__ import annotations

import pickle
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
#: The opcodes of the memo that are frequent.
_MEMOIZE_NEXT, _GET_EARLY = pickle.MEMOIZE[0], pickle.BINGET[0]


def _line(file: BytesIO) -> bytes:
    line = file.readline()
    if not line.endswith(b"\n"):
        raise ValueError("its line does not end")
    return line[:-1]


def _text_line(file: BytesIO) -> str:
    return _line(file).decode()


def _two_lines(file: BytesIO) -> str:
    return f"{_text_line(file)}.{_text_line(file)}"


def _nothing(_: BytesIO) -> None:
    pass


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
    """An opcode. ``size``: of its argument in bytes, where that is fixed; else ``read`` reads it.
    ``takes``: how many values from the stack; of one that goes to a mark, how many below it."""

    name: str
    size: int | None
    read: Callable[[BytesIO], Any]
    does: int
    takes: int
    leaves: int


class _Opcodes(NamedTuple):
    """The opcodes by their codes, and of the most frequent ones, which only push a value, what
    finds their ends.

    ``pushes``: how long those are that are always as long. ``lengths``: of those with bytes behind
    their length, how long this is; ``texts``: which of them are UTF-8.
    """

    ops: list[_Op | None]
    pushes: bytes
    lengths: bytes
    texts: frozenset[int]


@cache
def _opcodes() -> _Opcodes:
    import pickletools as tools

    of_length = {
        tools.TAKEN_FROM_ARGUMENT1: 1,
        tools.TAKEN_FROM_ARGUMENT4: 4,
        tools.TAKEN_FROM_ARGUMENT4U: 4,
        tools.TAKEN_FROM_ARGUMENT8U: 8,
    }
    ops: list[_Op | None] = [None] * 256
    pushes, lengths, texts = bytearray(256), bytearray(256), set()
    for op in tools.opcodes:
        does, takes, leaves = (
            _DOES.get(op.name, _NOTHING),
            len(op.stack_before),
            len(op.stack_after),
        )
        if tools.markobject in op.stack_before:
            does, takes = _TO_MARK, op.stack_before.index(tools.markobject)
        elif does == _MARK:  # marks are kept apart from the stack
            leaves = 0
        elif does == _PUT:  # it looks at the top, which the table does not say
            takes = leaves = 1
        code, n = ord(op.code), 0 if op.arg is None else op.arg.n
        read = _READERS.get(op.name, op.arg.reader if op.arg is not None else _nothing)
        ops[code] = _Op(op.name, n if n >= 0 else None, read, does, takes, leaves)
        if (does, takes, leaves) == (_NOTHING, 0, 1):
            pushes[code] = 1 + n if n >= 0 else 0
            lengths[code] = of_length.get(n, 0)
            if op.stack_after == [tools.pyunicode]:
                texts.add(code)
    return _Opcodes(ops, bytes(pushes), bytes(lengths), frozenset(texts))


def _argument(op: _Op, data: bytes, at: int) -> tuple[Any, int]:
    """What the opcode at ``at`` has behind it, and where that ends; Malformed, or IndexError where
    ``data`` ends before."""
    at += 1
    if op.size is not None:
        if (end := at + op.size) > len(data):
            raise IndexError
        return op.size and int.from_bytes(data[at:end], "little"), end
    file = BytesIO(data)  # which copies nothing
    file.seek(at)
    try:
        return op.read(file), file.tell()
    except (ValueError, OverflowError) as error:
        raise Malformed(f"{op.name}: {error}", at - 1) from None


class _Stack:
    """How much the unpickler would have on its stack, and which numbers in its memo; ``size``: of
    all that it reads.

    ``height``: of the stack; ``floor``: of that when the last mark was put on it. ``known``: the
    memo has the numbers up to but not including this one; ``is_plain``: from 0 on, and no others.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self.height = self.floor = self.known = 0
        self._floors: list[int] = []
        #: Where the memo begins; and the numbers that it has besides, by a bit each.
        self._first = self._others = 0
        self._bits = bytearray()
        self.is_plain = True

    def do(self, op: _Op, value: int, at: int, end: int) -> None:
        """Do what ``op`` does, which stands at ``at`` with ``value``, up to ``end``; Malformed."""
        does = op.does
        if does == _TO_MARK or (does == _POP and self._floors and self.height == self.floor):
            self._to_mark(op, at)
            if does == _POP:
                return
        if self.height - op.takes < self.floor:
            raise Malformed(f"{op.name}: the stack is empty", at)
        self.height += op.leaves - op.takes
        if does == _MARK:
            self._floors.append(self.height)
            self.floor = self.height
            if len(self._floors) > _MOST_MARKS:
                raise Malformed("nested too deeply", at)
        elif does < _PUT:
            pass
        elif does == _MEMOIZE:
            self._put(op, self.known - self._first + self._others, at, end)
        elif does == _PUT:
            self._put(op, value, at, end)
        elif does == _GET:
            if not self._has(value):
                raise Malformed(f"{op.name}: nothing is in the memo at {value}", at)
        elif does == _PROTO and value > _HIGHEST_PROTOCOL:
            raise Malformed(f"protocol {value} is not known", at)
        elif does == _FRAME and value > self._size - end:
            raise Malformed(f"FRAME: {self._size - end} bytes are left of {value}", at)

    def _to_mark(self, op: _Op, at: int) -> None:
        """Take all that is above the last mark, and this."""
        if not self._floors:
            raise Malformed(f"{op.name}: no mark is on the stack", at)
        above, self.height = self.height - self.floor, self._floors.pop()
        self.floor = self._floors[-1] if self._floors else 0
        if (above % 2 and op.name in _IN_PAIRS) or (not above and op.name == "OBJ"):
            raise Malformed(f"{op.name}: {above} values are above the mark", at)

    def _put(self, op: _Op, number: int, at: int, end: int) -> None:
        """Put ``number`` into the memo."""
        if number == self.known:
            self.known += 1
        elif not 0 <= number <= max(end, _SMALL_MEMO):
            # The unpickler makes room for so many, and no pickler leaves numbers out.
            raise Malformed(f"{op.name}: the memo has no place {number}", at)
        elif self._first == self.known:  # Python 2 counts from 1
            self.is_plain = False
            self._first, self.known = number, number + 1
        elif not self._has(number):
            self._bits.extend(bytes(max(0, (number >> 3) + 1 - len(self._bits))))
            self._bits[number >> 3] |= 1 << (number & 7)
            self._others += 1
            self.is_plain = False

    def _has(self, number: int) -> bool:
        if self._first <= number < self.known:
            return True
        at = number >> 3
        return 0 <= at < len(self._bits) and bool(self._bits[at] >> (number & 7) & 1)


def count_pickles(data: bytes) -> int:
    """How many pickles ``data`` is, one after another; Malformed where it is anything else."""
    count = at = 0
    while at < len(data):
        try:
            at = _end_of_one(data, at)
        except IndexError:
            raise Malformed("it ends before its STOP", len(data)) from None
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


def _end_of_one(data: bytes, at: int) -> int:
    """Where the pickle ends that begins at ``at``, behind its STOP; Malformed, or IndexError where
    ``data`` ends before."""
    ops, pushes, lengths, texts = _opcodes()
    stack = _Stack(len(data))
    while True:
        start, code = at, data[at]
        if size := pushes[code]:
            at += size
            stack.height += 1
        elif code == _MEMOIZE_NEXT and stack.is_plain and stack.height > stack.floor:
            at += 1
            stack.known += 1
        elif code == _GET_EARLY and stack.is_plain and data[at + 1] < stack.known:
            at += 2
            stack.height += 1
        elif (op := ops[code]) is None:
            raise Malformed(f"there is no opcode {data[at : at + 1]!r}", at)
        elif width := lengths[code]:
            begin = at + 1 + width
            at = begin + int.from_bytes(data[start + 1 : begin], "little")
            if at > len(data) or (code in texts and not data[begin:at].isascii()):
                _, at = _argument(op, data, start)
            stack.height += 1
        else:
            value, at = _argument(op, data, at)
            stack.do(op, value, start, at)
            if op.does == _STOP:
                return at
