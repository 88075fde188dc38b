"""Messages of ``objects`` read: extensions of MessagePack as what Python has beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from serialpack.errors import SerialpackError
from serialpack.formats.msgpack.values import messages
from serialpack.formats.shared.recursion import NeedsRoom, with_room
from serialpack.serializers.base import FAILURES
from serialpack.serializers.objects._class_names import class_named
from serialpack.serializers.objects._extension_table import Extension, Met, extension
from serialpack.serializers.objects._many_back import many_back
from serialpack.serializers.objects._own_classes import check_none_own
from serialpack.serializers.objects._own_types import ATTRIBUTED, DATACLASS, ENUM, NAMED_TUPLE
from serialpack.serializers.objects.arrays import ARRAY, array_over, bytes_in, one_of
from serialpack.serializers.objects.columns import OBJECTS_OF
from serialpack.serializers.objects.of_arrow import ARROW, table_over
from serialpack.stages.stage import Buffer, is_failure

#: Types of parts that nothing needs to be asked about.
_PLAIN = frozenset({str, bytes, int, float, bool, type(None), list, dict})

#: How often Python calls itself, at most, for each extension in an extension.
CALLS_A_LEVEL = 4


def load_over(message: Buffer, buffers: list[Any], over: Callable[..., Any]) -> list[Any]:
    """The objects of a message, whose arrays are what ``over`` makes of ``buffers`` and of what
    ``arrays.array_over`` takes beside; one of ``FAILURES`` where it has others."""

    def read(most: int) -> list[Any]:
        reader = _ExtensionReader(buffers, over, most)
        try:
            found = messages(message, ext_hook=reader)
        except (*FAILURES, SerialpackError, NeedsRoom):
            raise
        except Exception as error:  # a key that cannot be one without all of its fields
            raise ValueError(f"a map with other keys ({error})") from None
        finally:
            reader.close()
        if reader.used != len(buffers):
            raise ValueError("a frame with more than its message reads")
        return found

    return with_room(CALLS_A_LEVEL, read)


class _ExtensionReader:
    """Makes values of extensions, of ``most`` in each other. ``buffers``: what stands beside the
    message; ``used``: how many were asked for."""

    def __init__(self, buffers: list[Any], over: Callable[..., Any], most: int) -> None:
        self._buffers = buffers
        self._over = over
        self._most = most
        self._level = 0
        self._met = Met()
        self.used = 0
        #: What makes objects of own classes again, by extension and the names of the class.
        self._classes: dict[tuple[int, str, str], Callable[..., Any]] = {}
        #: Members of enums, by their bytes: many values have the same few.
        self._members: dict[bytes, Any] = {}
        from msgspec.msgpack import Decoder

        # In a quarter of the time of msgpack's, and with a tenth of the stack. Python 3.12 allows
        # C code 1500 calls within each other: a method takes one fewer than an object, and methods
        # that get their arguments by a star take one more.
        self._parts: Callable[[Any], Any] = Decoder(ext_hook=self.__call__).decode

    def close(self) -> None:
        """To be called at the end: the decoder and this hold each other, and the buffers."""
        del self._parts

    def __call__(self, code: int, data: Any) -> Any:
        if self._level >= self._most:
            raise NeedsRoom
        if code == ENUM and (member := self._members.get(bytes(data))) is not None:
            return member
        self._level += 1
        parts = self._parts(data)
        self._level -= 1
        if type(parts) is not list:
            raise ValueError(f"an extension {code} without its parts")
        try:
            found = extension(code)
            if found.of_class is not None:
                made = self._of_class(code, found.of_class, parts)
                if code == ENUM:
                    self._members[bytes(data)] = made
            else:
                if not found.takes_any and not _PLAIN.issuperset(map(type, parts)):
                    check_none_own(parts)
                made = found.made(*parts) if found.made is not None else self._made(code, parts)
            self._met.keep(found, made)
            return made
        except (*FAILURES, SerialpackError):
            raise
        except BaseException as error:  # whatever a library says of parts that no value has
            if not is_failure(error):
                raise
            words = str(error) or type(error).__name__
            raise ValueError(f"an extension {code} with other parts ({words})") from None

    def _of_class(
        self, code: int, of_class: Callable[..., Callable[..., Any]], parts: list[Any]
    ) -> Any:
        module, name, *of_object = parts
        return self._back(code, of_class, module, name)(*of_object)

    def _back(
        self, code: int, of_class: Callable[..., Callable[..., Any]], module: str, name: str
    ) -> Callable[..., Any]:
        if type(module) is not str or type(name) is not str:
            raise ValueError(f"an extension {code} without the names of a class")
        back = self._classes.get((code, module, name))
        if back is None:
            back = self._classes[code, module, name] = of_class(module, name)
        return back

    def _made(self, code: int, parts: list[Any]) -> Any:
        if code == ARRAY:
            return self._array(*parts)
        if code == ARROW:
            # It lies over whatever an array of bytes would.
            inside, size = parts
            return table_over(self._array(inside, "'|u1'", [size], False, True)[:])
        if code == OBJECTS_OF:
            return self._objects_of(*parts)
        return one_of(self._met.stands_for(code), *parts)

    def _objects_of(self, code: int, module: str, name: str, objects: Any) -> list[Any]:
        known = type(code) is int and code in (DATACLASS, NAMED_TUPLE, ATTRIBUTED)
        found = extension(code) if known else Extension()
        of_class = found.of_class
        if of_class is None or type(objects) is not list or set(map(type, objects)) != {list}:
            raise ValueError("no objects of a class with fields, names or attributes")
        back = self._back(code, of_class, module, name)
        made = many_back(code, class_named(module, name), objects)
        if made is None:
            made = [back(*parts) for parts in objects]
        if found.again is not None:
            self._met.keep_all(found.again, made)
        return made

    def _array(self, inside: bytes | None, *facts: Any) -> Any:
        if inside is not None:
            return array_over(bytearray(bytes_in(inside)), *facts)
        self.used += 1
        if self.used > len(self._buffers):
            raise ValueError("an array whose buffer is not there")
        return self._over(self._buffers[self.used - 1], *facts)
