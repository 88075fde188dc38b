"""Goes over BSON documents without making values: where each ends, and what PyMongo would drop.

PyMongo keeps one of two equal keys, reads the types undefined as null and symbol as text, and
knows six options of a regular expression. Such elements are found here, so that they are refused
instead of changed. Source: https://bsonspec.org/spec.html
"""

from __future__ import annotations

from array import array

from serialpack.depth.bson import ARRAY, BINARY, DOCUMENT, FIXED, REGEX, SCOPED, TEXT
from serialpack.formats.shared.split import Scan
from serialpack.stages.stage import Buffer
from serialpack.values.kinds import ROOT, Difference, Path, path_text

_GONE = {0x06: "undefined", 0x0C: "a pointer to a document", 0x0E: "a symbol"}


def first_lost(data: bytes) -> Difference | None:
    """The first thing that is lost of ``data``, which are documents; None where nothing is."""
    at = record = 0
    while at < len(data):
        if (lost := _lost(data, at)) is not None:
            return lost._replace(record=record)
        at += _size(data, at)
        record += 1
    return None


def scan(view: Buffer, most: int, ends: array[int] | None = None) -> Scan:
    """As ``SequenceFormat.scan``. No document is shorter than 5 bytes."""
    at = documents = 0
    while documents != most and at + 4 <= len(view):
        size = _size(view, at)
        if not 5 <= size < 1 << 31:
            return Scan(documents, at, lost=True)
        if size > len(view) - at:
            break
        at += size
        documents += 1
        if ends is not None:
            ends.append(at)
    return Scan(documents, at)


def _size(data: Buffer, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "little")


def _lost(data: bytes, start: int) -> Difference | None:
    """The first thing lost of the document at ``start``."""
    #: Documents that are not looked at yet: their start, their path, whether it is an array.
    stack: list[tuple[int, Path, bool]] = [(start, ROOT, False)]
    while stack:
        start, path, is_array = stack.pop()
        at = start + 4
        keys: dict[str, None] = {}
        while kind := data[at]:
            end = data.index(0, at + 1)
            key = "" if is_array else data[at + 1 : end].decode()
            at = end + 1
            here: Path = path, len(keys) if is_array else key
            if not is_array and key in keys:
                return Difference(0, path_text(here), f"the key {key!a}", "", "duplicate-keys")
            keys[str(len(keys)) if is_array else key] = None
            if kind in _GONE:
                return Difference(0, path_text(here), _GONE[kind], "", "value")
            if kind == REGEX:
                options_at = data.index(0, at) + 1
                end = data.index(0, options_at)
                options = data[options_at:end].decode()
                if options != "".join(sorted({*options} & {*"ilmsux"})):
                    was = f"a regular expression with the options {options!a}"
                    return Difference(0, path_text(here), was, "", "value")
                at = end + 1
            elif kind in (DOCUMENT, ARRAY):
                stack.append((at, here, kind == ARRAY))
                at += _size(data, at)
            elif kind == SCOPED:
                stack.append((at + 8 + _size(data, at + 4), (here, "scope"), False))
                at += _size(data, at)
            elif kind == BINARY:
                at += 5 + _size(data, at)
            elif kind in TEXT:
                at += 4 + _size(data, at)
            else:
                at += FIXED[kind]
        if path is not ROOT and not is_array and _is_turned(list(keys)):
            was = "a reference whose keys are in another order"
            return Difference(0, path_text(path), was, "", "value")
    return None


def _is_turned(keys: list[str]) -> bool:
    """Whether ``keys`` are those of a DBRef in an order that it does not keep."""
    if not {"$ref", "$id"} <= {*keys}:
        return False
    first = ["$ref", "$id", "$db"] if "$db" in keys else ["$ref", "$id"]
    return keys[: len(first)] != first
