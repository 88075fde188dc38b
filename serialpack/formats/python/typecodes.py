"""Whether bytes are marshal data, told from their type codes alone: nothing is built.

``marshal.loads`` may crash the interpreter, or ask for gigabytes, where ``marshal.dumps`` did not
write the bytes. Which codes there are, and what follows each, is said in CPython's
``Python/marshal.c``; code objects are those of Python 3.11 and later.
"""

from __future__ import annotations

from serialpack.formats.shared.document import Malformed

#: Code -> how many bytes follow it, where these are always as many.
_FIXED = {
    **dict.fromkeys(b"NTFS.", 0),
    **dict.fromkeys(b"ir", 4),
    **dict.fromkeys(b"Ig", 8),
    ord("y"): 16,
}
#: Code -> how many bytes of a length follow it, and how many bytes the length counts by.
_SIZED = {
    **dict.fromkeys(b"stuaA", (4, 1)),
    **dict.fromkeys(b"zZf", (1, 1)),
    ord("l"): (4, 2),
}
#: Code -> how many bytes of a count follow it: that of the objects behind it.
_COUNTED = {**dict.fromkeys(b"([<>", 4), ord(")"): 1}
_TEXT = b"tu"
#: The code that refers to an earlier object, and the flag on the code of an object that may be
#: referred to.
_REF, _FLAG = ord("r"), 0x80
_LONG = ord("l")
_COMPLEX_TEXT = ord("x")
_SLICE = ord(":")
_MAP, _MAP_END = ord("{"), ord("0")
_CODE = ord("c")

#: What an entry of ``todo`` may be beside a number of objects: pairs up to the end of a map, or a
#: number of four bytes.
_PAIRS, _NUMBER = -1, -2
#: marshal's own limit is 2000 containers in containers; each has at most three entries of ``todo``.
_MOST_TODO = 6000


def marshal_ends(data: bytes) -> list[int]:
    """Where each object ends that ``data`` is, one after another; Malformed for other bytes."""
    ends, at = [], 0
    while at < len(data):
        at = _read_one(data, at)
        ends.append(at)
    return ends


def _read_one(data: bytes, at: int) -> int:
    """Where the object ends that begins at ``at``."""
    todo = [1]  # objects still to come in each open container, innermost last
    refs = 0
    while todo:
        if todo[-1] == 0:
            todo.pop()
            continue
        if todo[-1] == _NUMBER:
            at = _skip(data, at, 4)
            todo.pop()
            continue
        start, at = at, _skip(data, at, 1)
        code = data[start]
        if todo[-1] == _PAIRS:
            if code == _MAP_END:
                todo.pop()
                continue
            todo.append(1)  # the value, behind the key
        else:
            todo[-1] -= 1
        if code & _FLAG:
            refs += 1
            code ^= _FLAG
        if code in _FIXED:
            at = _skip(data, at, _FIXED[code])
            if code == _REF and int.from_bytes(data[at - 4 : at], "little") >= refs:
                raise Malformed("a reference to what was not before it", start)
        elif code in _SIZED:
            at = _sized(data, at, code)
        elif code == _COMPLEX_TEXT:
            at = _sized(data, _sized(data, at, ord("f")), ord("f"))
        elif code in _COUNTED:
            at, count = _counted(data, at, code)
            todo.append(count)
        elif code == _MAP:
            todo.append(_PAIRS)
        elif code == _SLICE:
            todo.append(3)
        elif code == _CODE:
            at = _skip(data, at, 20)
            todo += (2, _NUMBER, 8)
        else:
            raise Malformed(f"there is no type code {bytes([code])!r}", start)
        if len(todo) > _MOST_TODO:
            raise Malformed("nested too deeply", start)
    return at


def _sized(data: bytes, at: int, code: int) -> int:
    """Where the bytes end whose length stands at ``at``, behind ``code``."""
    width, unit = _SIZED[code]
    begin, count = _length(data, at, width, signed=code == _LONG)
    end = _skip(data, begin, abs(count) * unit)
    if code in _TEXT:
        try:
            data[begin:end].decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise Malformed(f"text is not UTF-8 ({error.reason})", begin + error.start) from None
    return end


def _counted(data: bytes, at: int, code: int) -> tuple[int, int]:
    """Where the count ends that stands at ``at``, behind ``code``, and that of the objects."""
    end, count = _length(data, at, _COUNTED[code])
    if count > len(data) - end:
        left = len(data) - end
        raise Malformed(f"{count} objects are claimed where {left} bytes are left", at - 1)
    return end, count


def _length(data: bytes, at: int, width: int, *, signed: bool = False) -> tuple[int, int]:
    end = _skip(data, at, width)
    return end, int.from_bytes(data[at:end], "little", signed=signed)


def _skip(data: bytes, at: int, count: int) -> int:
    if count > len(data) - at:
        raise Malformed(f"{count} bytes are claimed where {len(data) - at} are left", at)
    return at + count
