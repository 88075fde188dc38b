"""Makes values of Python of a Java serialization stream, which the library javaobj takes apart.

What has no like in Python is refused: objects of classes other than those named here, values that
hold themselves. Source: Java Object Serialization Specification, section 6.
"""

from __future__ import annotations

import logging
import struct
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any
from uuid import UUID

from serialpack.formats.base import Difference, Unheld
from serialpack.formats.losses.exact import not_held
from serialpack.formats.shared.document import Malformed
from serialpack.formats.shared.expansion import check_unfolded
from serialpack.stages.stage import import_library
from serialpack.text import error_words, with_article
from serialpack.values.kinds import OBJECTS, ROOT, Loss, Path, path_text, shown

if TYPE_CHECKING:
    from serialpack.formats.losses.marks import Marks

MAGIC = b"\xac\xed\x00\x05"

_BOXED: dict[str, type] = {
    **{f"java.lang.{name}": int for name in ("Byte", "Short", "Integer", "Long")},
    **{f"java.lang.{name}": float for name in ("Float", "Double")},
    "java.lang.Boolean": bool,
    "java.lang.Character": str,
}

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def read_stream(data: bytes, marks: Marks | None) -> list[Any]:
    """The objects of a stream, primitive data as bytes.

    Malformed, Unheld for objects of classes that are not known here, RefusedError where these write
    more than their fields. ``marks`` may allow maps of their fields.
    """
    if not data.startswith(MAGIC):
        raise Malformed("it does not begin with AC ED 00 05", 0)
    source = _Source(data)
    try:
        contents = _parser()(source).run()
        values = [_JavaValues(number) for number in range(len(contents))]
        records = [made.of(content, ROOT) for made, content in zip(values, contents, strict=True)]
    except EOFError:
        raise Malformed("it ends too early", len(data)) from None
    except RecursionError:
        lost = "more levels than can be read"
        raise Unheld(Difference(0, "$", lost, "", "depth")) from None
    check_unfolded(records, len(data))
    # Last, so that nobody is told to let go of classes where that would not be enough.
    for loss in chain.from_iterable(made.lost for made in values):
        if marks is None or OBJECTS not in marks.allowed:
            raise Unheld(Difference(loss.record, loss.value_path, str(loss.was), "", "object"))
        marks.placed.append(loss)
    return records


class _Source:
    """Bytes as a file that never gives fewer than it is asked for."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def read(self, size: int) -> bytes:
        end = self._at + size
        if end > len(self._data):
            raise EOFError
        part = self._data[self._at : end]
        self._at = end
        return part

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = offset + (self._at if whence else 0)
        return self._at


@cache
def _parser() -> Callable[[_Source], Any]:
    """The library's parser, which keeps objects as they are in the stream."""
    core = import_library("javaobj.v2.core", "java")
    from javaobj.v2.beans import JavaInstance, JavaString

    # The library would print its doubts about some streams where nobody listens to them.
    logging.getLogger("javaobj").addHandler(logging.NullHandler())

    class Opaque(JavaInstance):
        """An object that wrote itself: nobody else knows what its bytes mean."""

        def load_from_blockdata(self, *_: Any) -> bool:
            return True

    class Parser(core.JavaStreamParser):  # type: ignore[misc,name-defined]
        def __init__(self, source: _Source) -> None:
            super().__init__(source, [])
            self._source = source

        def _create_instance(self, _description: Any) -> Any:
            return Opaque()  # type: ignore[no-untyped-call]

        def run(self) -> list[Any]:
            try:
                return super().run()  # type: ignore[no-any-return]
            except (EOFError, RecursionError):
                raise
            except Exception as error:  # of any kind, for bytes that are no stream
                what = error_words(error)
                raise Malformed(f"javaobj cannot read it ({what})", self._source.tell()) from None

        def _read_new_string(self, code: int) -> Any:
            # The library's own reads all of U+D000 to U+DFFF as the half of a pair.
            if code not in (0x74, 0x7C):  # TC_STRING, TC_LONGSTRING
                if code != 0x71:  # TC_REFERENCE
                    raise ValueError(f"0x{code & 0xFF:02x} begins no string")
                return super()._read_new_string(code)
            handle = self._new_handle()
            wide = code == 0x7C
            size = int.from_bytes(self._source.read(8 if wide else 2), "big")
            string = JavaString(handle, b"")
            string.value = _modified_utf8(self._source.read(size))
            self._set_handle(handle, string)
            return string

    return Parser


def _modified_utf8(data: bytes) -> str:
    """Text as Java writes it: NUL in two bytes, and UTF-16's pairs in three bytes each half."""
    if data.isascii() and b"\0" not in data:
        return data.decode()
    if b"\0" in data or max(data) >= 0xF0:
        raise ValueError("a string is not in modified UTF-8")
    text = data.replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


class _JavaValues:
    """Makes values of one record. An object that stands in two places is one value in both."""

    def __init__(self, record: int) -> None:
        self._record = record
        #: The objects of which maps of their fields were made, which lose their class.
        self.lost: list[Loss] = []
        self._made: dict[int, Any] = {}

    def of(self, content: Any, path: Path) -> Any:
        kind = type(content).__name__
        if content is None or isinstance(content, bool | int | float | str):
            return content
        if kind == "JavaString":
            return content.value
        if kind == "JavaEnum":
            return content.value.value
        if kind == "BlockData":
            return content.data
        if id(content) in self._made:
            return self._made[id(content)]
        if kind == "JavaArray":
            return self._array(content, path)
        if kind == "Opaque":
            return self._object(content, path)
        raise self._refusal(path, _KINDS.get(kind, "what is no object"))

    def _refusal(self, path: Path, was: str, kind: str = "object") -> Exception:
        return not_held(Difference(self._record, path_text(path), was, "", kind))

    def _array(self, content: Any, path: Path) -> Any:
        if content.field_type.name == "BYTE":
            return bytes(value & 0xFF for value in content)
        made: list[Any] = []
        self._made[id(content)] = made
        made.extend(self.of(value, (path, i)) for i, value in enumerate(content))
        return made

    def _object(self, content: Any, path: Path) -> Any:
        name = content.classdesc.name
        fields = {
            field.name: value
            for values in content.field_data.values()
            for field, value in values.items()
        }
        # What a class of the library wrote beside its fields; those of two classes never do.
        written = [part for parts in content.annotations.values() for part in parts]
        try:
            if name in _BOXED:
                value = fields["value"]
                if type(value) is not _BOXED[name]:
                    raise ValueError
                return value
            if name in _LISTS:
                return self._list(content, _LISTS[name](fields, written), path)
            if name in _MAPS:
                return self._map(content, _MAPS[name](fields, written), path)
            if name in _SETS:
                return self._set(_SETS[name](fields, written), path)
            if name in _OTHERS:
                return _OTHERS[name](fields, written)
        except (ValueError, TypeError, LookupError, AttributeError, OverflowError, struct.error):
            raise self._refusal(path, f"this object of the class {name}") from None
        if written or any(count > 1 for count in _names(content).values()):
            why = "writes more than its fields" if written else "has two fields of one name"
            raise self._refusal(path, f"an object of the class {name}, which {why}")
        self.lost.append(Loss(OBJECTS, 1, self._record, path_text(path), name, "a map"))
        made: dict[str, Any] = {}
        self._made[id(content)] = made
        made.update((field, self.of(value, (path, field))) for field, value in fields.items())
        return made

    def _list(self, content: Any, parts: list[Any], path: Path) -> list[Any]:
        made: list[Any] = []
        self._made[id(content)] = made
        made.extend(self.of(part, (path, i)) for i, part in enumerate(parts))
        return made

    def _map(self, content: Any, parts: list[Any], path: Path) -> dict[Any, Any]:
        made: dict[Any, Any] = {}
        self._made[id(content)] = made
        for at in range(0, len(parts), 2):
            key = self._key(parts[at], path)
            if key in made:
                raise self._refusal(path, f"the keys {shown(key)} of two types", "duplicate-keys")
            made[key] = self.of(parts[at + 1], (path, key))
        return made

    def _set(self, parts: list[Any], path: Path) -> set[Any]:
        made: set[Any] = set()
        for part in parts:
            element = self._key(part, path)
            if element in made:
                was = f"the elements {shown(element)} of two types"
                raise self._refusal(path, was, "duplicate-keys")
            made.add(element)
        return made

    def _key(self, content: Any, path: Path) -> Any:
        key = self.of(content, path)
        if type(content).__name__ == "Opaque" and isinstance(key, dict):
            was = f"an object of the class {content.classdesc.name} as a key"
            raise self._refusal(path, was, "key")
        if isinstance(key, list | dict | set):
            raise self._refusal(path, f"{with_article(type(key).__name__)} as a key", "key")
        return key


def _names(content: Any) -> Counter[str]:
    """Field name -> how many classes, from the object's own up, have a field of that name."""
    return Counter(field.name for values in content.field_data.values() for field in values)


_KINDS = {"JavaClass": "a class", "ExceptionState": "an exception that ended the writing"}

_Fields = dict[str, Any]


def _counted(head: str, each: int = 1) -> Callable[[_Fields, list[Any]], list[Any]]:
    """What reads the elements that a class wrote behind primitive data, whose last number counts
    them.

    ``head``: the format of that data; ``each``: values of one element.
    """

    def parts(fields: _Fields, written: list[Any]) -> list[Any]:
        _uncompared(fields)
        *_, count = struct.unpack(head, written[0].data)
        if len(written) - 1 != count * each:
            raise ValueError
        return written[1:]

    return parts


def _uncompared(fields: _Fields) -> None:
    """ValueError for a collection that is sorted by an object's own rule."""
    if fields.get("comparator") is not None:
        raise ValueError


def _array_list(fields: _Fields, written: list[Any]) -> list[Any]:
    # The number that it writes first is its capacity, which tells nothing.
    if len(written) - 1 != fields["size"] or len(written[0].data) != 4:
        raise ValueError
    return written[1:]


def _vector(fields: _Fields, _written: list[Any]) -> list[Any]:
    return list(fields["elementData"])[: fields["elementCount"]]


def _tree_set(_fields: _Fields, written: list[Any]) -> list[Any]:
    if written[0] is not None:  # a comparator
        raise ValueError
    return _counted(">i")({}, written[1:])


def _date(_fields: _Fields, written: list[Any]) -> datetime:
    (block,) = written
    return _EPOCH + timedelta(milliseconds=struct.unpack(">q", block.data)[0])


def _uuid(fields: _Fields, _written: list[Any]) -> UUID:
    halves = (fields["mostSigBits"], fields["leastSigBits"])
    return UUID(bytes=struct.pack(">qq", *halves))


def _big_integer(fields: _Fields, _written: list[Any]) -> int:
    magnitude = bytes(value & 0xFF for value in fields["magnitude"])
    return int(fields["signum"]) * int.from_bytes(magnitude, "big")


def _big_decimal(fields: _Fields, _written: list[Any]) -> Decimal:
    whole = fields["intVal"]
    if whole.classdesc.name != "java.math.BigInteger":
        raise ValueError
    parts = {f.name: v for values in whole.field_data.values() for f, v in values.items()}
    sign, digits, _ = Decimal(_big_integer(parts, [])).as_tuple()
    return Decimal((sign, digits, -fields["scale"]))


_LISTS: dict[str, Callable[[_Fields, list[Any]], list[Any]]] = {
    "java.util.ArrayList": _array_list,
    "java.util.LinkedList": _counted(">i"),
    "java.util.ArrayDeque": _counted(">i"),
    "java.util.Vector": _vector,
    "java.util.Stack": _vector,
    "java.util.Arrays$ArrayList": lambda fields, _written: list(fields["a"]),
}
_MAPS: dict[str, Callable[[_Fields, list[Any]], list[Any]]] = {
    "java.util.HashMap": _counted(">ii", 2),
    "java.util.LinkedHashMap": _counted(">ii", 2),
    "java.util.Hashtable": _counted(">ii", 2),
    "java.util.TreeMap": _counted(">i", 2),
}
_SETS: dict[str, Callable[[_Fields, list[Any]], list[Any]]] = {
    "java.util.HashSet": _counted(">ifi"),
    "java.util.LinkedHashSet": _counted(">ifi"),
    "java.util.TreeSet": _tree_set,
}
_OTHERS: dict[str, Callable[[_Fields, list[Any]], Any]] = {
    "java.util.Date": _date,
    "java.util.UUID": _uuid,
    "java.math.BigInteger": _big_integer,
    "java.math.BigDecimal": _big_decimal,
}
