"""Messages of ``objects`` read: extensions of MessagePack as what Python has beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from serialpack.errors import SerialpackError
from serialpack.formats.msgpack.values import messages
from serialpack.formats.shared.recursion import NeedsRoom, with_room
from serialpack.serializers._outline import Met
from serialpack.serializers._own_classes import check_none_own
from serialpack.serializers._own_types import ARRAY, BACK, BACK_TO_CLASS, SCALAR, TAKE_ANY
from serialpack.serializers.arrays import (
    MASKED,
    OBJECTS,
    SHOWN,
    array_over,
    bytes_in,
    masked_of,
    objects_of,
    one_of,
    scalar_over,
    shown_of,
)
from serialpack.serializers.base import FAILURES
from serialpack.serializers.of_arrow import ARROW, OF_ARROW, arrow_of, table_over
from serialpack.serializers.of_numpy import OF_NUMPY, numpy_of
from serialpack.serializers.of_pandas import FRAME, OF_PANDAS, SERIES, pandas_of
from serialpack.serializers.of_polars import OF_POLARS, polars_of
from serialpack.serializers.of_pydantic import OF_PYDANTIC, url_of
from serialpack.serializers.of_scipy import OF_SCIPY, scipy_of
from serialpack.serializers.of_xarray import OF_XARRAY, xarray_of
from serialpack.stages.stage import Buffer, is_failure

#: Those of which a part may be of any class; pandas' look themselves.
_TAKE_ANY = TAKE_ANY | {FRAME, SERIES, OF_PANDAS}
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
        self._level += 1
        parts = self._parts(data)
        self._level -= 1
        if type(parts) is not list:
            raise ValueError(f"an extension {code} without its parts")
        try:
            if code in BACK_TO_CLASS:
                made = self._of_class(code, parts)
                self._met.keep(code, made)
                return made
            if code not in _TAKE_ANY and not _PLAIN.issuperset(map(type, parts)):
                check_none_own(parts)
            if code in BACK:
                return BACK[code](*parts)
            made = self._made(code, parts)
            self._met.keep(code, made)
            return made
        except (*FAILURES, SerialpackError):
            raise
        except BaseException as error:  # whatever a library says of parts that no value has
            if not is_failure(error):
                raise
            words = str(error) or type(error).__name__
            raise ValueError(f"an extension {code} with other parts ({words})") from None

    def _of_class(self, code: int, parts: list[Any]) -> Any:
        module, name, *of_object = parts
        if type(module) is not str or type(name) is not str:
            raise ValueError(f"an extension {code} without the names of a class")
        back = self._classes.get((code, module, name))
        if back is None:
            back = self._classes[code, module, name] = BACK_TO_CLASS[code](module, name)
        return back(*of_object)

    def _made(self, code: int, parts: list[Any]) -> Any:
        if code == ARRAY:
            return self._array(*parts)
        if (met := self._met.stands_for(code)) is not None:
            return one_of(met, *parts)
        if code == ARROW:
            # It lies over whatever an array of bytes would.
            inside, size = parts
            return table_over(self._array(inside, "'|u1'", [size], False, True)[:])
        if code in (FRAME, SERIES, OF_PANDAS):
            return pandas_of(code, parts)
        if code == OF_ARROW:
            return arrow_of(*parts)
        if code == OF_POLARS:
            return polars_of(*parts)
        if code == OF_NUMPY:
            return numpy_of(*parts)
        if code == OF_PYDANTIC:
            return url_of(*parts)
        if code == OF_SCIPY:
            return scipy_of(*parts)
        if code == OF_XARRAY:
            return xarray_of(*parts)
        if code == MASKED:
            return masked_of(*parts)
        if code == SHOWN:
            return shown_of(*parts)
        if code == OBJECTS:
            return objects_of(*parts)
        if code == SCALAR:
            return scalar_over(*parts)
        raise ValueError(f"there is no extension {code}")

    def _array(self, inside: bytes | None, *facts: Any) -> Any:
        if inside is not None:
            return array_over(bytearray(bytes_in(inside)), *facts)
        self.used += 1
        if self.used > len(self._buffers):
            raise ValueError("an array whose buffer is not there")
        return self._over(self._buffers[self.used - 1], *facts)
