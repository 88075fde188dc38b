"""What a block may have at most: ``man/spk.5``, BLOCK HEADER and LIMITS."""

from serialpack.stages.stage import MAX_BLOCK

#: The most records of a block. No count of bytes bounds them: in TOML an empty map takes none,
#: and a column of nulls in Parquet as many bytes for a thousand rows as for a million.
MAX_RECORDS = 64 << 20


def max_stored(restored: int) -> int:
    """The most bytes that a part restoring to ``restored`` may take: a stored zstd frame's."""
    return restored + restored // 4096 + 64


#: The most serialized bytes of a block: a column block may hold its text as such a frame.
MAX_SERIALIZED = max_stored(MAX_BLOCK)


def too_much(
    size: int, serialized: int, records: int | None, *, in_place: bool = False
) -> str | None:
    """Which limit a block of such sizes would exceed, in words; None where it keeps them all.

    A block that is ``in_place`` may have any size: the limit is on each of its parts.
    """
    if size > MAX_BLOCK and not in_place:
        return f"restores to {size} bytes, the most is {MAX_BLOCK}"
    if serialized > MAX_SERIALIZED and not in_place:
        return f"has {serialized} serialized bytes, the most is {MAX_SERIALIZED}"
    if records is not None and records > MAX_RECORDS:
        return f"has {records} records, the most is {MAX_RECORDS}"
    return None
