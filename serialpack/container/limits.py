"""The limits on the size of a block (man/spk.5, BLOCK HEADER and LIMITS)."""

from serialpack.stages.stage import MAX_BLOCK

#: The most records of a block. The limits on bytes do not bound their number: in TOML an empty map
#: takes no bytes, and in Parquet a column of nulls takes as many for a million rows as for a
#: thousand.
MAX_RECORDS = 64 << 20


def max_stored(restored: int) -> int:
    """The most bytes that a part may take in the file if it restores to ``restored`` bytes: what a
    zstd frame takes that stores them uncompressed."""
    return restored + restored // 4096 + 64


#: The most serialized bytes of a block. They may be more than those of its source: the serializer
#: columns may keep a text as an uncompressed zstd frame.
MAX_SERIALIZED = max_stored(MAX_BLOCK)


def too_much(
    size: int, serialized: int, records: int | None, *, in_place: bool = False
) -> str | None:
    """Which limit a block of these sizes exceeds, as the end of a sentence; None where none.

    ``size``: bytes that it restores to; ``serialized``: bytes after its serializer. A block that is
    ``in_place`` may have any size: there, each part is limited.
    """
    if size > MAX_BLOCK and not in_place:
        return f"restores to {size} bytes, the most is {MAX_BLOCK}"
    if serialized > MAX_SERIALIZED and not in_place:
        return f"has {serialized} serialized bytes, the most is {MAX_SERIALIZED}"
    if records is not None and records > MAX_RECORDS:
        return f"has {records} records, the most is {MAX_RECORDS}"
    return None
