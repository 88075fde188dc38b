"""Whether a file without a name that says so may be BSON."""

#: A document, as MongoDB limits it.
_LARGEST = (16 << 20) + (16 << 10)


def may_be_bson(head: bytes, *, whole: bool) -> bool:
    """A document says its length first, and ends with a zero (bsonspec.org)."""
    size = int.from_bytes(head[:4], "little")
    if size < 5 or len(head) < 5:
        return False
    return head[size - 1] == 0 if size <= len(head) else not whole and size <= _LARGEST
