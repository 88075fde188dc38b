"""Tells by its first bytes whether a file may be BSON, which has no magic number."""

#: The most bytes of a document, which is what MongoDB allows.
_LARGEST = (16 << 20) + (16 << 10)


#: The types of an element; and of those whose value begins with a length, how many bytes more the
#: value has than that says.
_TYPES = {*range(0x01, 0x14), 0x7F, 0xFF}
_SIZED = {0x02: 4, 0x03: 0, 0x04: 0, 0x05: 5, 0x0D: 4, 0x0E: 4, 0x0F: 0}


def may_be_bson(head: bytes, *, whole: bool) -> bool:
    """Whether ``head`` begins as a document does, which says its length, holds elements, and ends
    with a zero (bsonspec.org)."""
    size = int.from_bytes(head[:4], "little")
    if size < 5 or len(head) < 5:
        return False
    ends = head[size - 1] == 0 if size <= len(head) else not whole and size <= _LARGEST
    return ends and (size == 5 or _may_begin(head, size))


def _may_begin(head: bytes, size: int) -> bool:
    """Whether a document of ``size`` bytes may have the first element that it seems to have."""
    at = head.find(b"\0", 5) + 1
    if head[4] not in _TYPES or not at:
        return False
    if head[4] not in _SIZED or len(head) < at + 4:
        return at < size
    length = int.from_bytes(head[at : at + 4], "little")
    return at + length + _SIZED[head[4]] < size
