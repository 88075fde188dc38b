"""How deep BSON documents are nested, told from the types and sizes of their elements.

That is only looked at where bytes that may begin a document are many. Types and sizes are those of
bsonspec.org.
"""

from __future__ import annotations

from serialpack.depth._limit import MAX_DEPTH, TooDeep

#: Number of a type -> size of its values in bytes, of types whose values all have one size: double,
#: ObjectId, boolean, date, integers, timestamp, decimal; undefined, null, MinKey and MaxKey take 0.
FIXED = dict(
    [(0x01, 8), (0x07, 12), (0x08, 1), (0x09, 8), (0x10, 4), (0x11, 8), (0x12, 8), (0x13, 16)]
    + [(kind, 0) for kind in (0x06, 0x0A, 0x7F, 0xFF)]
)
DOCUMENT, ARRAY, BINARY, REGEX, POINTER, SCOPED = 0x03, 0x04, 0x05, 0x0B, 0x0C, 0x0F
TEXT = (0x02, 0x0D, 0x0E)

#: All bytes that are not the type of a value with a document in it.
_NO_DOCUMENTS = bytes({*range(256)} - {DOCUMENT, ARRAY, SCOPED})


def check_documents(data: bytes) -> None:
    """TooDeep where one of the documents in ``data``, which follow each other, is too deep.

    Bytes that are no BSON end the check: what a reader would make of them is not asked.
    """
    if _is_shallow(data):
        return
    at = 0
    while len(data) - at >= 4:
        size = _length(data, at)
        document = data[at : at + size]
        if not _is_shallow(document):
            _check_document(document)
        if size < 5:
            return
        at += size


def _is_shallow(data: bytes) -> bool:
    """Whether ``data`` has fewer bytes that may begin a document than there may be levels."""
    return len(data.translate(None, _NO_DOCUMENTS)) < MAX_DEPTH


def _check_document(data: bytes) -> None:
    """TooDeep where the document ``data`` is too deep."""
    #: The documents still to be looked at: where each begins and ends, and its level.
    stack = [(0, len(data), 1)]
    while stack:
        at, end, depth = stack.pop()
        if depth > MAX_DEPTH:
            raise TooDeep
        at += 4
        while at < end and (kind := data[at]):
            at = data.find(0, at + 1, end) + 1
            if at == 0:
                break
            size = _size(data, at, end, kind)
            if size is None or size > end - at:
                break
            if kind in (DOCUMENT, ARRAY):
                stack.append((at, at + size, depth + 1))
            elif kind == SCOPED:
                stack.append((at + 8 + _length(data, at + 4), at + size, depth + 1))
            at += size


def _size(data: bytes, at: int, end: int, kind: int) -> int | None:
    """The size in bytes of the value of type ``kind`` that begins at ``at``; None where it breaks
    the rules. ``end``: where the document that it is in ends."""
    if kind in FIXED:
        return FIXED[kind]
    if kind == REGEX:
        options = data.find(0, at, end) + 1
        behind = data.find(0, options, end) + 1
        return behind - at if options and behind else None
    length = _length(data, at)
    if kind in (DOCUMENT, ARRAY, SCOPED):
        return length if length >= 5 else None
    more = {**dict.fromkeys(TEXT, 4), BINARY: 5, POINTER: 16}.get(kind)
    return None if more is None else length + more


def _length(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "little")
