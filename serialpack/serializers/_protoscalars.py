"""How protobuf's types of values are written on the wire and read again, nothing rounded.

Each takes values of one Python type only, and of these what the type on the wire holds.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Any, NamedTuple

from serialpack.formats.protobuf import wire
from serialpack.formats.shared.document import Malformed

Writer = Callable[[Any, int], bytes]
Reader = Callable[[bytes, int, int, int], tuple[Any, int]]


class Unfit(ValueError):
    """A value does not fit the schema. ``path``: where it is in its record."""

    def __init__(self, message: str, value: Any, path: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.value = value
        self.path = path


class Scalar(NamedTuple):
    """How to write values of one type behind their tag, how to read them, and what an absent one
    is."""

    layout: int
    write: Writer
    read: Reader
    default: Any


def _integer(name: str, low: int, high: int, write: Writer, read: Reader, layout: int) -> Scalar:
    def checked_write(value: Any, depth: int) -> bytes:
        if type(value) is not int or not low <= value < high:
            raise Unfit(f"{name} is wanted", value)
        return write(value, depth)

    def checked_read(data: bytes, at: int, end: int, depth: int) -> tuple[Any, int]:
        value, stop = read(data, at, end, depth)
        if not low <= value < high:
            raise Malformed(f"{value} is not {name}", at)
        return value, stop

    return Scalar(layout, checked_write, checked_read, 0)


def _varints(name: str, bits: int, *, signed: bool, zigzag: bool = False) -> Scalar:
    low, high = (-1 << bits - 1, 1 << bits - 1) if signed else (0, 1 << bits)

    def write(value: Any, _: int) -> bytes:
        if zigzag:
            value = value << 1 if value >= 0 else (-value << 1) - 1
        return wire.varint(value & (1 << 64) - 1)

    def read(data: bytes, at: int, end: int, _: int) -> tuple[Any, int]:
        value, at = wire.read_varint(data, at, end)
        if zigzag:
            value = value >> 1 if not value & 1 else -(value >> 1) - 1
        elif signed and value >> 63:
            value -= 1 << 64
        return value, at

    return _integer(name, low, high, write, read, wire.VARINT)


def _packs(layout: Struct) -> tuple[Writer, Reader]:
    def write(value: Any, _: int) -> bytes:
        return layout.pack(value)

    def read(data: bytes, at: int, end: int, _: int) -> tuple[Any, int]:
        if end - at < layout.size:
            raise Malformed("it ends within a number", at)
        return layout.unpack_from(data, at)[0], at + layout.size

    return write, read


def _fixed(name: str, letter: str, bits: int) -> Scalar:
    low, high = (0, 1 << bits) if letter.isupper() else (-1 << bits - 1, 1 << bits - 1)
    layout = wire.FIXED64 if bits == 64 else wire.FIXED32
    return _integer(name, low, high, *_packs(Struct(f"<{letter}")), layout)


_DOUBLE = Struct("<d")


def _floats(name: str, letter: str) -> Scalar:
    packer = Struct(f"<{letter}")
    _, read = _packs(packer)

    def write(value: Any, _: int) -> bytes:
        if type(value) is not float:
            raise Unfit(f"{name} is wanted", value)
        try:
            data = packer.pack(value)
        except OverflowError:
            raise Unfit(f"no {name} is as large", value) from None
        if letter == "f" and _DOUBLE.pack(packer.unpack(data)[0]) != _DOUBLE.pack(value):
            raise Unfit("it changes in the 32 bits of a float", value)
        return data

    return Scalar(wire.FIXED64 if letter == "d" else wire.FIXED32, write, read, 0.0)


def _bool() -> Scalar:
    def write(value: Any, _: int) -> bytes:
        if type(value) is not bool:
            raise Unfit("bool is wanted", value)
        return b"\1" if value else b"\0"

    def read(data: bytes, at: int, end: int, _: int) -> tuple[Any, int]:
        value, stop = wire.read_varint(data, at, end)
        if value > 1:
            raise Malformed(f"{value} is no bool", at)
        return bool(value), stop

    return Scalar(wire.VARINT, write, read, False)


def _string() -> Scalar:
    def write(value: Any, _: int) -> bytes:
        if type(value) is not str:
            raise Unfit("string is wanted", value)
        try:
            text = value.encode()
        except UnicodeEncodeError:
            raise Unfit("string is wanted", value) from None
        return wire.varint(len(text)) + text

    def read(data: bytes, at: int, end: int, _: int) -> tuple[Any, int]:
        at, stop = wire.read_length(data, at, end)
        return wire.read_text(data, at, stop), stop

    return Scalar(wire.BYTES, write, read, "")


def _bytes() -> Scalar:
    def write(value: Any, _: int) -> bytes:
        if type(value) is not bytes:
            raise Unfit("bytes is wanted", value)
        return wire.varint(len(value)) + value

    def read(data: bytes, at: int, end: int, _: int) -> tuple[Any, int]:
        at, stop = wire.read_length(data, at, end)
        return data[at:stop], stop

    return Scalar(wire.BYTES, write, read, b"")


def enum(descriptor: Any) -> Scalar:
    numbers = _varints("int32", 32, signed=True)
    names: dict[int, str] = {}
    for each in descriptor.values:  # of two names for one number, the first is its name
        names.setdefault(each.number, each.name)
    codes = {name: number for number, name in names.items()}

    def write(value: Any, depth: int) -> bytes:
        if type(value) is str and value in codes:
            return numbers.write(codes[value], depth)
        if type(value) is not int or value in names or descriptor.is_closed:
            raise Unfit(f"a name of {descriptor.full_name} is wanted", value)
        return numbers.write(value, depth)

    def read(data: bytes, at: int, end: int, depth: int) -> tuple[Any, int]:
        number, stop = numbers.read(data, at, end, depth)
        if descriptor.is_closed and number not in names:
            raise Malformed(f"{number} of {descriptor.full_name} is not in this schema", at)
        return names.get(number, number), stop

    return Scalar(wire.VARINT, write, read, descriptor.values[0].name)


#: The scalars by the numbers of FieldDescriptorProto.Type.
SCALARS = {
    1: _floats("double", "d"),
    2: _floats("float", "f"),
    3: _varints("int64", 64, signed=True),
    4: _varints("uint64", 64, signed=False),
    5: _varints("int32", 32, signed=True),
    6: _fixed("fixed64", "Q", 64),
    7: _fixed("fixed32", "I", 32),
    8: _bool(),
    9: _string(),
    12: _bytes(),
    13: _varints("uint32", 32, signed=False),
    15: _fixed("sfixed32", "i", 32),
    16: _fixed("sfixed64", "q", 64),
    17: _varints("sint32", 32, signed=True, zigzag=True),
    18: _varints("sint64", 64, signed=True, zigzag=True),
}
