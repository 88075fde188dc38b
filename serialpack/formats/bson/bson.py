"""BSON (bsonspec.org) as a source: documents one after another, as mongodump writes them.

What Python has no type for is an object of the library's: ObjectId, Decimal128, Regex, Timestamp,
Binary of a subtype, Code, DBRef, MinKey, MaxKey, and a date beyond those of Python.
"""

from __future__ import annotations

from array import array
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any
from uuid import UUID

from serialpack.depth import TooDeep, check_documents
from serialpack.depth.values import levels
from serialpack.errors import MissingLibraryError
from serialpack.formats.base import Unheld, depth_loss
from serialpack.formats.bson import scan as bson_scan
from serialpack.formats.losses.exact import not_held
from serialpack.formats.shared.document import Malformed, SequenceFormat
from serialpack.stages.stage import Buffer, import_library
from serialpack.text import error_words

if TYPE_CHECKING:
    from serialpack.formats.pieces.join import Join

_CONTAINERS = frozenset({list, dict})


def library() -> Any:
    """PyMongo's bson; another distribution brings a module of the same name."""
    bson = import_library("bson", "bson")
    if not hasattr(bson, "decode_all"):
        raise MissingLibraryError(
            "the bson that is installed is not PyMongo's",
            hint="pip uninstall bson, then pip install --force-reinstall pymongo",
        )
    return bson


class BsonFormat(SequenceFormat):
    """A sequence of BSON documents."""

    about = "BSON documents, one after another, as mongodump writes them"
    title = "BSON"

    scan = staticmethod(bson_scan.scan)

    @property
    def join(self) -> Join:
        from serialpack.formats.pieces.join import Join

        return Join()

    def read(self, data: bytes) -> list[Any]:
        """The documents, which are written again first, integers by their width: where that
        gives other bytes, the library may have dropped something, and that is looked for.
        """
        records = _decoded(data, plain=False)
        if _again(records) != data and (lost := bson_scan.first_lost(data)) is not None:
            raise Unheld(lost) if lost.kind == "duplicate-keys" else not_held(lost)
        return _decoded(data, plain=True)

    def read_stored(self, data: bytes) -> list[Any]:
        return read_documents(data)

    def write(self, records: list[Any]) -> bytes:
        return write_documents(records)


def read_documents(data: Buffer) -> list[Any]:
    """The documents, of which only the last of equal keys is there. Malformed, or Unheld."""
    return _decoded(bytes(data), plain=True)


def write_documents(records: list[Any]) -> bytes:
    """The documents of ``records``, one after another.

    TypeError or ValueError for what would not come back, RecursionError for values nested too
    deeply.
    """
    levels(records, _plain_types(), _inside, _CONTAINERS)
    bson = library()
    try:
        return _encoded(records)
    except bson.errors.BSONError as error:
        raise ValueError(str(error)) from None


def _decoded(data: bytes, *, plain: bool) -> list[Any]:
    """The documents of ``data``. ``plain``: all integers as Python's own, else those of 64 bits as
    Int64."""
    bson = library()
    check_depth(data)
    try:
        records: list[Any] = bson.decode_all(data, _options(plain))
    except (bson.errors.BSONError, ValueError, OverflowError) as error:
        raise _placed(bson, data, error) from None
    return records


def check_depth(data: bytes) -> None:
    """Unheld for the first document that is nested too deeply."""
    try:
        check_documents(data)
        return
    except TooDeep:
        pass
    ends = array("q")
    bson_scan.scan(data, -1, ends)
    for record, (start, end) in enumerate(zip([0, *ends], [*ends, len(data)], strict=True)):
        try:
            check_documents(data[start:end])
        except TooDeep:
            raise Unheld(depth_loss(record)) from None


def _placed(bson: Any, data: bytes, error: Exception) -> Exception:
    """What is wrong, and in which document, for the ``error`` of the library: documents are read
    one by one."""
    at = record = 0
    while at < len(data):
        end = at + int.from_bytes(data[at : at + 4], "little")
        if end > len(data) or at + 4 > len(data):
            return Malformed("a document goes on behind the end", at)
        try:
            bson.decode_all(data[at:end], _options(plain=True))
        except (bson.errors.BSONError, ValueError, OverflowError) as found:
            error = found
            break
        if end <= at:
            break
        at = end
        record += 1
    said = "text that is not UTF-8" if _NO_UTF8 in str(error) else error_words(error)
    return Malformed(f"a document: {said}", at)


#: What the library's error has in it for text that is not UTF-8.
_NO_UTF8 = "codec can't decode"


def _again(records: list[Any]) -> bytes | None:
    bson = library()
    try:
        return _encoded(records)
    except (bson.errors.BSONError, ValueError, TypeError, OverflowError, RecursionError):
        return None


def _encoded(records: list[Any]) -> bytes:
    encode, options = library().encode, _options(plain=True)
    written = []
    for record in records:
        if "_id" in record and next(iter(record)) != "_id":
            # The library would move it to the front; but not of a document inside another.
            written.append(encode({"": record}, False, options)[6:-1])
        else:
            written.append(encode(record, False, options))
    return b"".join(written)


@cache
def _options(plain: bool) -> Any:
    library()
    from bson.binary import UuidRepresentation
    from bson.codec_options import CodecOptions, DatetimeConversion, TypeDecoder, TypeRegistry
    from bson.int64 import Int64

    class PlainInteger(TypeDecoder):
        bson_type = Int64

        def transform_bson(self, value: Any) -> Any:
            return int(value)

    return CodecOptions(
        tz_aware=True,
        tzinfo=UTC,
        uuid_representation=UuidRepresentation.STANDARD,
        datetime_conversion=DatetimeConversion.DATETIME_AUTO,
        type_registry=TypeRegistry([PlainInteger()] if plain else []),
    )


@cache
def _plain_types() -> frozenset[type]:
    """The types that hold no others, and come back as what they were."""
    bson = library()
    return frozenset(
        {
            *(type(None), bool, int, float, str, bytes, UUID),
            *(bson.ObjectId, bson.Decimal128, bson.Regex, bson.Timestamp, bson.Binary),
            *(bson.MinKey, bson.MaxKey, bson.datetime_ms.DatetimeMS),
        }
    )


def _inside(value: Any) -> list[Any]:
    """The values in one of the library's own objects; TypeError for other types."""
    bson = library()
    kind = type(value)
    if kind is datetime:
        if value.tzinfo is not UTC or value.microsecond % 1000:
            raise ValueError("BSON has dates in UTC, to the millisecond")
        return []
    if kind is bson.Code:
        return [value.scope]
    if kind is bson.DBRef:
        return list(value.as_doc().values())
    raise TypeError(f"cannot write {kind.__name__}")
