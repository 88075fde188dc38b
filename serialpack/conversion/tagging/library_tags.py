"""The tags of values of libraries: PyMongo's BSON types, CBOR, MessagePack, NumPy.

``library_tag`` makes the tag of a value, and ``READERS`` has a function for each tag, those of
``python_tags`` among them. A library is imported to read its values; to write one it is there.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from re import RegexFlag
from typing import Any

from serialpack.conversion.tagging.python_tags import (
    READERS as PYTHON_READERS,
)
from serialpack.conversion.tagging.python_tags import (
    base64_bytes,
    base64_text,
    binary_of,
    decimal_text,
    digits_of,
    integer_of,
    is_map,
    milliseconds_of,
    text_of,
)
from serialpack.stages.stage import import_library
from serialpack.values.equality import difference

#: The letters of regular expressions' options, in the order of the specification.
_OPTIONS = "ilmsux"


def library_tag(value: Any) -> Any:
    """The tag of a value of a library; one of ``python_tags.ODD`` where it has none."""
    kind = type(value)
    writer = _WRITERS.get(f"{kind.__module__}.{kind.__name__}")
    if writer is None and kind.__module__ == "numpy" and isinstance(value, _numpy().generic):
        writer = _write_scalar
    if writer is None:
        raise TypeError("there is no tag for it")
    tag = writer(value)
    ((name, content),) = tag.items()
    if difference(value, READERS[name](content)) is not None:
        raise ValueError("its tag says another value")
    return tag


def shallow_tag(value: Any) -> Any:
    """As ``library_tag``, also of a tag of CBOR, whose content stays what it is."""
    kind = type(value)
    if f"{kind.__module__}.{kind.__name__}" == "cbor2.CBORTag":
        return {"$cborTag": [value.tag, value.value]}
    return library_tag(value)


def of_shallow_tag(made: dict[str, Any]) -> Any:
    """The value of which ``shallow_tag`` made this; ValueError."""
    ((name, content),) = made.items()
    if name == "$cborTag":
        return import_library("cbor2", "cbor").CBORTag(*content)
    return READERS[name](content)


def pymongo_bson() -> Any:
    """PyMongo's bson; MissingLibraryError where it is not there."""
    from serialpack.formats.bson.bson import library

    library()
    from bson import datetime_ms, int64  # noqa: F401 (attributes of the package)

    return sys.modules["bson"]


# BSON.


def _write_datetime(value: Any) -> Any:
    date = {"$date": {"$numberLong": str(int(value))}}
    try:
        PYTHON_READERS["$date"](date["$date"])
    except OverflowError:  # no datetime holds it
        return date
    return {"$bson": date}


def _read_date(content: Any) -> Any:
    try:
        return PYTHON_READERS["$date"](content)
    except OverflowError:
        return _read_milliseconds(content)


def _read_milliseconds(content: Any) -> Any:
    return pymongo_bson().datetime_ms.DatetimeMS(milliseconds_of(content))


def _write_binary(value: Any) -> Any:
    tag = {"$binary": {"base64": base64_text(value), "subType": f"{value.subtype:02x}"}}
    try:
        PYTHON_READERS["$binary"](tag["$binary"])
    except LookupError:  # Python has no type for it
        return tag
    return {"$bson": tag}


def _read_binary(content: Any) -> Any:
    try:
        return PYTHON_READERS["$binary"](content)
    except LookupError:
        return _read_subtype(content)


def _read_subtype(content: Any) -> Any:
    return pymongo_bson().Binary(*binary_of(content))


def _write_regex(value: Any) -> Any:
    """PyMongo's own reader gives plain integers as options; its constructor, given letters, not."""
    options = "".join(o for o in _OPTIONS if value.flags & RegexFlag[o.upper()])
    tag = {"$regularExpression": {"pattern": value.pattern, "options": options}}
    return {"$bson": tag} if type(value.flags) is RegexFlag else tag


def _read_regex(content: Any, kind: type[int] = int) -> Any:
    if not is_map(content, "pattern", "options"):
        raise ValueError('must have "pattern" and "options"')
    options = text_of(content["options"], f"[{_OPTIONS}]*")
    if len({*options}) < len(options):
        raise ValueError("must have each option once")
    flags = sum(RegexFlag[option.upper()] for option in options)
    return pymongo_bson().Regex(text_of(content["pattern"]), kind(flags))


def _read_timestamp(content: Any) -> Any:
    if not is_map(content, "t", "i"):
        raise ValueError('must have "t" and "i"')
    parts = (integer_of(content[name], 32) for name in "ti")
    return pymongo_bson().Timestamp(*parts)


def _read_end(name: str) -> Callable[[Any], Any]:
    def read(content: Any) -> Any:
        if type(content) is not int or content != 1:
            raise ValueError("must be 1")
        return getattr(pymongo_bson(), name)()

    return read


def _read_object(content: Any) -> Any:
    if type(content) is not dict or len(content) != 1 or not content.keys() <= {*_BSON_READERS}:
        raise ValueError(f"must have one of {', '.join(_BSON_READERS)}")
    ((name, inner),) = content.items()
    return _BSON_READERS[name](inner)


def read_decimal128(content: Any) -> Any:
    """What ``$numberDecimal`` says in BSON, as PyMongo has it."""
    text = decimal_text(content)
    return pymongo_bson().Decimal128(text)


# CBOR and MessagePack.


def _read_undefined(content: Any) -> Any:
    if content is not True:
        raise ValueError("must be true")
    return import_library("cbor2", "cbor").undefined


def _read_simple(content: Any) -> Any:
    number = integer_of(content, 8)
    return import_library("cbor2", "cbor").CBORSimpleValue(number)


def _read_extension(content: Any) -> Any:
    import msgpack

    if not is_map(content, "code", "base64"):
        raise ValueError('must have "code" and "base64"')
    code = integer_of(content["code"], 8, signed=True)
    # Not by its constructor, which takes no code below 0.
    return msgpack.ExtType._make((code, base64_bytes(content["base64"])))


def _read_nanoseconds(content: Any) -> Any:
    import msgpack

    if not is_map(content, "seconds", "nanoseconds"):
        raise ValueError('must have "seconds" and "nanoseconds"')
    seconds = integer_of(content["seconds"], 64, signed=True)
    return msgpack.Timestamp(seconds, integer_of(content["nanoseconds"], 32))


# NumPy.


def _numpy() -> Any:
    import numpy as np

    return np


def _write_array(value: Any) -> Any:
    order = "F" if value.flags.f_contiguous and not value.flags.c_contiguous else "C"
    data = base64_text(value.tobytes(order))
    shape = list(value.shape)
    return {
        "$numpyArray": {"dtype": value.dtype.str, "shape": shape, "order": order, "base64": data}
    }


def _read_array(content: Any) -> Any:
    if (
        not is_map(content, "dtype", "shape", "order", "base64")
        or type(content["shape"]) is not list
    ):
        raise ValueError('must have "dtype", "shape", "order" and "base64"')
    dtype, data = _dtype(content["dtype"]), base64_bytes(content["base64"])
    shape = [integer_of(length, 63) for length in content["shape"]]
    if len(data) != math.prod(shape) * dtype.itemsize:
        raise ValueError("has not as many bytes as its shape says")
    order = text_of(content["order"], "[CF]")
    return _numpy().ndarray(shape, dtype, bytearray(data), order=order)


def _write_scalar(value: Any) -> Any:
    return {"$numpyScalar": {"dtype": value.dtype.str, "base64": base64_text(value.tobytes())}}


def _read_scalar(content: Any) -> Any:
    if not is_map(content, "dtype", "base64"):
        raise ValueError('must have "dtype" and "base64"')
    dtype, data = _dtype(content["dtype"]), base64_bytes(content["base64"])
    if len(data) != dtype.itemsize:
        raise ValueError("has not as many bytes as its type says")
    return _numpy().ndarray((), dtype, data)[()]


def _dtype(content: Any) -> Any:
    """One of numbers, times, text or bytes of a width: what its text says all of."""
    dtype = _numpy().dtype(text_of(content, r"[<>|][biufcmMSUV][0-9]+(\[[0-9a-zA-Z]+\])?"))
    if dtype.str != content or not dtype.itemsize:
        raise ValueError("must be a type as NumPy writes it")
    return dtype


_WRITERS: dict[str, Callable[[Any], Any]] = {
    "bson.objectid.ObjectId": lambda v: {"$oid": str(v)},
    "bson.timestamp.Timestamp": lambda v: {"$timestamp": {"t": v.time, "i": v.inc}},
    "bson.regex.Regex": _write_regex,
    "bson.binary.Binary": _write_binary,
    "bson.code.Code": lambda v: {"$code": str.__str__(v)},
    "bson.min_key.MinKey": lambda _: {"$minKey": 1},
    "bson.max_key.MaxKey": lambda _: {"$maxKey": 1},
    "bson.datetime_ms.DatetimeMS": _write_datetime,
    "bson.decimal128.Decimal128": lambda v: {"$bson": {"$numberDecimal": str(v)}},
    "bson.int64.Int64": lambda v: {"$bson": {"$numberLong": str(int(v))}},
    "cbor2.UndefinedType": lambda _: {"$undefined": True},
    "cbor2.CBORSimpleValue": lambda v: {"$cborSimple": v.value},
    "msgpack.ext.ExtType": lambda v: {
        "$msgpackExt": {"code": v.code, "base64": base64_text(v.data)}
    },
    "msgpack.ext.Timestamp": lambda v: {
        "$msgpackTimestamp": {"seconds": v.seconds, "nanoseconds": v.nanoseconds}
    },
    "numpy.ndarray": _write_array,
}

_BSON_READERS: dict[str, Callable[[Any], Any]] = {
    "$binary": _read_subtype,
    "$date": _read_milliseconds,
    "$numberDecimal": read_decimal128,
    "$regularExpression": lambda content: _read_regex(content, RegexFlag),
    "$numberLong": lambda content: pymongo_bson().int64.Int64(digits_of(content, 64)),
}

READERS: dict[str, Callable[[Any], Any]] = {
    **PYTHON_READERS,
    "$date": _read_date,
    "$binary": _read_binary,
    "$oid": lambda content: pymongo_bson().ObjectId(text_of(content, "[0-9a-fA-F]{24}")),
    "$timestamp": _read_timestamp,
    "$regularExpression": _read_regex,
    "$code": lambda content: pymongo_bson().Code(text_of(content)),
    "$minKey": _read_end("MinKey"),
    "$maxKey": _read_end("MaxKey"),
    "$bson": _read_object,
    "$undefined": _read_undefined,
    "$cborSimple": _read_simple,
    "$msgpackExt": _read_extension,
    "$msgpackTimestamp": _read_nanoseconds,
    "$numpyArray": _read_array,
    "$numpyScalar": _read_scalar,
}
