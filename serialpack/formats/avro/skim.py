"""Goes over Avro's binary data before fastavro does, which is written in C and takes much on trust.

fastavro recurses as deeply as the data says, reads any number of values that take no bytes,
negative places in a union, numbers of more than 64 bits, a key twice, and leaves what is behind
the last value. All of that is found here.

Source: https://avro.apache.org/docs/1.12.0/specification/
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from serialpack.depth import MAX_DEPTH
from serialpack.errors import RefusedError
from serialpack.formats.base import Difference, Unheld, depth_loss
from serialpack.formats.shared.document import Malformed
from serialpack.leb128 import EndsEarly, read_varint, unzigzag
from serialpack.values.kinds import shown

#: Goes over the value that begins at a byte, and gives where it ends; IndexError where it does not.
Skip = Callable[[bytes, int], int]

#: The most values that take no bytes, in a value of one type and in a whole file.
_MOST_WEIGHTLESS = 1000
_ALL_WEIGHTLESS = 1 << 20


class _Type(NamedTuple):
    """How to go over values of a type. ``weightless``: how many values that take no bytes one
    consists of, 0 where it takes some; ``depth``: how many levels of containers."""

    skip: Skip
    weightless: int = 0
    depth: int = 0


class Skimmer:
    """Goes over values of one schema, as fastavro has parsed it. Malformed for a hostile one.

    ``recursive``: a type holds values of itself, so the data says how deep they are. ``risky``:
    for that reason or another, fastavro must not be given the data before they are gone over.
    """

    def __init__(self, schema: Any, named: dict[str, Any]) -> None:
        self._named = named
        self._made: dict[str, _Type] = {}
        self._open: set[str] = set()
        self._left = _ALL_WEIGHTLESS
        self._within = 0
        self.recursive = self.risky = False
        self._top = self._type(schema)
        self.risky = self.risky or self.recursive or self._top.weightless > 0

    def skim(self, block: bytes, count: int, at: int) -> None:
        """Go over the ``count`` values that a block must hold; it is at byte ``at`` of the file."""
        self._expect(count, self._top, len(block), at)
        where = number = 0
        try:
            for number in range(count):  # noqa: B007 (errors say it)
                where = self._top.skip(block, where)
        except IndexError:
            raise Malformed("a block ends within a value", at + len(block)) from None
        except RecursionError:
            raise Unheld(depth_loss(number)) from None
        except Unheld as lost:
            raise Unheld(lost.difference._replace(record=number)) from None
        except Malformed as bad:
            raise Malformed(bad.message, at + (bad.at or 0)) from None
        if where != len(block):
            what = "a block ends within a value" if where > len(block) else "more than its values"
            raise Malformed(what, at + min(where, len(block)))

    def _expect(self, count: int, kind: _Type, room: int, at: int) -> None:
        """See that ``count`` values may follow in ``room`` bytes."""
        if not kind.weightless and count > room:
            raise Malformed(f"{count} values are announced in {room} bytes", at)
        self._left -= count * kind.weightless
        if self._left < 0:
            raise RefusedError(
                f"more than {_ALL_WEIGHTLESS} values are announced that take no bytes",
                hint="pack -s raw keeps the bytes",
            )

    def _type(self, schema: Any) -> _Type:
        if isinstance(schema, list):
            return _union([self._type(branch) for branch in schema])
        if not isinstance(schema, dict):
            return _PRIMITIVES.get(schema) or self._known(schema)
        kind = schema["type"]
        if kind in ("record", "error", "enum", "fixed"):
            return self._known(schema["name"])
        if kind == "array":
            return self._array(self._type(schema["items"]))
        if kind == "map":
            return self._map(self._type(schema["values"]))
        return _logical(_PRIMITIVES[kind], schema)

    def _known(self, name: str) -> _Type:
        """The type called ``name``, made once for all its users."""
        if name in self._made:
            return self._made[name]
        if name in self._open:
            self.recursive = True
            return _Type(lambda data, at: self._again(name, data, at))
        self._open.add(name)
        schema = self._named[name]
        if schema["type"] == "enum":
            made = _enum(len(schema["symbols"]))
        elif schema["type"] == "fixed":
            made = _logical(_fixed(schema["size"]), schema)
        else:
            made = self._record(schema)
        self._open.discard(name)
        self._made[name] = made
        return made

    def _again(self, name: str, data: bytes, at: int) -> int:
        """Go over a value of the type ``name`` that stands within one of that type."""
        self._within += 1
        if self._within > MAX_DEPTH:
            raise RecursionError
        end = self._made[name].skip(data, at)
        self._within -= 1
        return end

    def _record(self, schema: Any) -> _Type:
        names = [field["name"] for field in schema["fields"]]
        if len(set(names)) < len(names):
            raise Malformed("a schema with two fields of one name")
        fields = [self._type(field["type"]) for field in schema["fields"]]
        skips = [field.skip for field in fields if not field.weightless]
        weightless = sum(field.weightless for field in fields)
        if weightless > _MOST_WEIGHTLESS:
            raise Malformed(f"a schema with {weightless} values that take no bytes in one")

        def skip(data: bytes, at: int) -> int:
            for each in skips:
                at = each(data, at)
            return at

        return _Type(skip, 0 if skips else max(weightless, 1), _deepest(fields))

    def _array(self, item: _Type) -> _Type:
        self.risky = self.risky or item.weightless > 0

        def skip(data: bytes, at: int) -> int:
            while True:
                count, end, at = _counted(data, at)
                if not count:
                    return at
                self._expect(count, item, len(data) - at, at)
                if not item.weightless:
                    for _ in range(count):
                        at = item.skip(data, at)
                _check_end(end, at)

        return _Type(skip, 0, _deepest([item]))

    def _map(self, value: _Type) -> _Type:
        def skip(data: bytes, at: int) -> int:
            met: set[bytes] = set()
            while True:
                count, end, at = _counted(data, at)
                if not count:
                    return at
                if count > len(data) - at:
                    raise Malformed(f"{count} keys are announced", at)
                for _ in range(count):
                    start = read_long(data, at)[1]
                    at = _string(data, at)
                    key = data[start:at]
                    if key in met:
                        name = shown(str(key, "utf-8"))
                        raise Unheld(Difference(0, "$", f"{name} twice", "", "duplicate-keys"))
                    met.add(key)
                    at = value.skip(data, at)
                _check_end(end, at)

        return _Type(skip, 0, _deepest([value]))


def _deepest(inner: list[_Type]) -> int:
    depth = 1 + max((each.depth for each in inner), default=0)
    if depth > MAX_DEPTH:
        raise Malformed(f"a schema of more than {MAX_DEPTH} levels")
    return depth


def read_long(data: bytes, at: int) -> tuple[int, int]:
    """The number at ``at``, and where it ends."""
    byte = data[at]
    if byte < 128:  # most are: no call for these
        return byte >> 1 ^ -(byte & 1), at + 1
    try:
        number, at = read_varint(data, at, len(data))
    except EndsEarly:
        raise IndexError from None
    except ValueError as error:
        raise Malformed(str(error), at) from None
    return unzigzag(number), at


def _counted(data: bytes, at: int) -> tuple[int, int | None, int]:
    """How many items follow, where they end if that is said, and where they begin."""
    count, at = read_long(data, at)
    if count >= 0:
        return count, None, at
    size, at = read_long(data, at)
    return -count, at + size, at


def _check_end(end: int | None, at: int) -> None:
    if end is not None and end != at:
        raise Malformed("items do not end where they are said to", at)


def _skip_long(data: bytes, at: int) -> int:
    return at + 1 if data[at] < 128 else read_long(data, at)[1]


def _skip_int(data: bytes, at: int) -> int:
    number, end = read_long(data, at)
    if not -1 << 31 <= number < 1 << 31:
        raise Malformed(f"{number} is not an int", at)
    return end


def _boolean(data: bytes, at: int) -> int:
    if data[at] > 1:
        raise Malformed(f"{data[at]} is not a boolean", at)
    return at + 1


def _bytes(data: bytes, at: int) -> int:
    size, start = read_long(data, at)
    if not 0 <= size <= len(data) - start:
        raise Malformed(f"{size} bytes are announced, {len(data) - start} are there", at)
    return start + size


def _string(data: bytes, at: int) -> int:
    end = _bytes(data, at)
    start = read_long(data, at)[1]
    try:
        str(data[start:end], "utf-8")
    except UnicodeDecodeError as error:
        raise Malformed(f"text that is not UTF-8 ({error.reason})", start + error.start) from None
    return end


def _fixed(size: Any) -> _Type:
    if not isinstance(size, int) or size < 0:
        raise Malformed(f"a schema with a fixed type of {size!r:.40} bytes")
    return _Type(lambda _, at: at + size, 0 if size else 1)


def _enum(count: int) -> _Type:
    def skip(data: bytes, at: int) -> int:
        place, end = read_long(data, at)
        if not 0 <= place < count:
            raise Malformed(f"{place} is no place among {count} symbols", at)
        return end

    return _Type(skip)


def _union(branches: list[_Type]) -> _Type:
    skips = [branch.skip for branch in branches]

    def skip(data: bytes, at: int) -> int:
        place, end = read_long(data, at)
        if not 0 <= place < len(skips):
            raise Malformed(f"{place} is no place in a union of {len(skips)}", at)
        return skips[place](data, end)

    return _Type(skip, 0, max((branch.depth for branch in branches), default=0))


_DAYS = {"time-millis": 86_400_000, "time-micros": 86_400_000_000}


def _logical(kind: _Type, schema: Any) -> _Type:
    """A type, held to what its logical type allows, where fastavro would read something else."""
    logical = schema.get("logicalType")
    if logical in _DAYS and kind.skip in (_skip_int, _skip_long):

        def time(data: bytes, at: int) -> int:
            end = kind.skip(data, at)
            if not 0 <= read_long(data, at)[0] < _DAYS[logical]:
                raise Malformed("a time of day beyond the day", at)
            return end

        return kind._replace(skip=time)
    if logical == "decimal" and schema["type"] in ("bytes", "fixed"):
        digits = schema["precision"]

        def decimal(data: bytes, at: int) -> int:
            end = kind.skip(data, at)
            start = read_long(data, at)[1] if schema["type"] == "bytes" else at
            # Each digit takes more than three bits: so few bits hold no more digits.
            if (end - start) * 8 > digits * 3:
                number = abs(int.from_bytes(data[start:end], "big", signed=True))
                if number >= 10**digits:
                    raise Malformed(f"a decimal of more than {digits} digits", at)
            return end

        return kind._replace(skip=decimal)
    return kind


_PRIMITIVES = {
    "null": _Type(lambda _, at: at, 1),
    "boolean": _Type(_boolean),
    "int": _Type(_skip_int),
    "long": _Type(_skip_long),
    "float": _Type(lambda _, at: at + 4),
    "double": _Type(lambda _, at: at + 8),
    "bytes": _Type(_bytes),
    "string": _Type(_string),
}
