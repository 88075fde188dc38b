"""Values of any kind made only of what JSON holds, and back: MongoDB Extended JSON v2 with more.

What JSON has words for stays as it is: null, true, false, text (lone surrogates are escapes),
finite floats, integers of up to 4300 digits, arrays, and maps whose keys are text. Whatever else
there is becomes a tag: a map whose key begins with ``$``. In all other maps a key that begins with
``$`` gets one ``$`` more, so that no data are ever taken for a tag.

Tags of the specification (github.com/mongodb/specifications, extended-json). Those marked r are
read as well, and never written; those marked p are of PyMongo's objects.

    bytes                           {"$binary": {"base64": "AAE=", "subType": "00"}}
    datetime in UTC, milliseconds   {"$date": {"$numberLong": "1698194668123"}}
      r                             {"$date": "2023-10-25T00:44:28.123Z"}
    NaN, infinities                 {"$numberDouble": "NaN"}, "Infinity", "-Infinity"
      r any float                   {"$numberDouble": "1.5"}
      r int                         {"$numberInt": "1"}, {"$numberLong": "1"}
    Decimal                         {"$numberDecimal": "1.50"}
    UUID                            {"$uuid": "12345678-1234-4678-9234-567812345678"}
      r                             {"$binary": {"base64": ..., "subType": "04"}}
      with a word on its safety     {"$uuid": {"text": ..., "isSafe": "unsafe"}}
    p ObjectId                      {"$oid": "65386d2c0123456789abcdef"}
    p Timestamp                     {"$timestamp": {"t": 1698194668, "i": 1}}
    p Regex                         {"$regularExpression": {"pattern": "^a", "options": "im"}}
    p Binary of another subtype     {"$binary": {"base64": "AAE=", "subType": "80"}}
    p Code                          {"$code": "f()"}, {"$code": "f()", "$scope": {...}}
    p DBRef                         {"$ref": "c", "$id": ..., "$db": "d", ...}
    p MinKey, MaxKey                {"$minKey": 1}, {"$maxKey": 1}
    p DatetimeMS, no year of Python {"$date": {"$numberLong": "253402300800000"}}
    undefined (CBOR)                {"$undefined": true}

Tags of our own, where the specification has none:

    int of more than 4300 digits    {"$integer": "0x1f..."}
    NaN with bits of its own        {"$nan": "7ff8000000000001"} (big-endian)
    any other datetime              {"$datetime": "2023-10-25T00:44:28.123456+02:00"}
      with no zone                  {"$datetime": "2023-10-25T00:44:28"}
      in a named zone (RFC 9557)    {"$datetime": "2023-10-25T00:44:28+02:00[Europe/Vienna]"}
      with a fold, or an offset     {"$datetime": {"text": ..., "fold": 1}},
      with a name of its own        {"$datetime": {"text": ..., "name": "CEST"}}
    date                            {"$dateOnly": "2023-10-25"}
    time                            {"$time": ...}, as $datetime
    timedelta                       {"$timedelta": {"days": 1, "seconds": 0, "microseconds": 0}}
    Fraction                        {"$fraction": [1, 3]}
    complex                         {"$complex": [1.5, -2.0]}
    tuple, set, frozenset           {"$tuple": [...]}, {"$set": [...]}, {"$frozenset": [...]}
    map with other keys than text   {"$map": [[key, value], ...]}
    bytearray                       {"$bytearray": "AAE="} (base64)
    memoryview of bytes             {"$memoryview": {"readonly": true, "base64": "AAE="}}
    array.array                     {"$array": {"typecode": "i", "items": [1, -2]}}
    NumPy array                     {"$numpyArray": {"dtype": "<f8", "shape": [2, 3],
                                     "order": "C", "base64": ...}}
    NumPy scalar                    {"$numpyScalar": {"dtype": "<f4", "base64": "AADAPw=="}}
    IP address                      {"$ipAddress": "10.0.0.1"}, {"$ipNetwork": "10.0.0.0/8"},
                                    {"$ipInterface": "10.0.0.1/8"}
    CBOR tag, map as a key          {"$cborTag": [6, value]}, {"$frozenMap": [[key, value], ...]}
    CBOR simple value               {"$cborSimple": 59}
    YAML tag, of no type here       {"$yamlTag": ["!Ref", value]}
    MessagePack extension           {"$msgpackExt": {"code": 5, "base64": "AAE="}}
    MessagePack time, nanoseconds   {"$msgpackTimestamp": {"seconds": 1, "nanoseconds": 2}}
    p what a tag reads as Python's  {"$bson": {"$numberDecimal": "1.50"}} (Decimal128),
                                    {"$bson": {"$numberLong": "1"}} (Int64), $binary, $date,
                                    $regularExpression (of a Regex with re.RegexFlag)
    Decimal beside those of BSON    {"$decimal": "1.50"}

``decimal128`` is for records that come from BSON or go there: ``$numberDecimal`` is then its
Decimal128, which every tool of MongoDB takes it for; Decimal, which BSON has not, is ``$decimal``.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

from serialpack.conversion.tagging.failures import BadTag as BadTag
from serialpack.conversion.tagging.failures import TagFailure as TagFailure
from serialpack.conversion.tagging.failures import TagsTooDeep as TagsTooDeep
from serialpack.conversion.tagging.failures import Untaggable as Untaggable
from serialpack.conversion.tagging.python_tags import LARGE
from serialpack.formats.json.values import json_levels, of_type


def tag(records: list[Any], *, decimal128: bool = False) -> list[Any]:
    """The records made only of what JSON holds: themselves, where they are that already.

    Untaggable for a value that no tag is for; TooDeep where more than ``MAX_DEPTH`` arrays and
    objects would stand within each other, tags included (a tuple is two, a map with other keys
    than text three, a UUID one).
    """
    if _needs_no_tag(records):
        return records
    from serialpack.conversion.tagging.tagger import Tagger

    return Tagger(decimal128).run(records)


def untag(records: list[Any], *, decimal128: bool = False) -> list[Any]:
    """The records of which ``tag`` made these, or another writer of Extended JSON v2.

    BadTag for a map with a key that begins with ``$`` and is none of the tags above;
    MissingLibraryError where the type of a value is of a library that is not installed.
    """
    if _has_no_dollars(records):
        return records
    from serialpack.conversion.tagging.untagger import Untagger

    return Untagger(decimal128).run(records)


def _needs_no_tag(records: list[Any]) -> bool:
    """Whether the records are made only of what JSON holds, and no key looks like a tag."""
    try:
        for level, kinds, maps in json_levels(records):
            integers = of_type(int, level, kinds)
            if integers and not -LARGE < min(integers) <= max(integers) < LARGE:
                return False
            if _dollars(maps):
                return False
    except ValueError:  # not JSON
        return False
    return True


def _has_no_dollars(records: list[Any]) -> bool:
    try:
        return not any(_dollars(maps) for _, _, maps in json_levels(records))
    except ValueError:
        return False


def _dollars(maps: list[dict[str, Any]]) -> bool:
    # Keys repeat from map to map: looked at once each, they cost little.
    return any(key[:1] == "$" for key in {*chain.from_iterable(maps)})
