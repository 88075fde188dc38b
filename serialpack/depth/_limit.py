"""The limit on depth, and the error for a value that exceeds it."""

from __future__ import annotations

#: The most levels of a record. The libraries manage at least about 1000 levels, less the caller's
#: own frames (CPython's default recursion limit): half of that is left for these frames. So many
#: levels also fit in a stack of 512 KiB, the smallest that a thread is usually given.
MAX_DEPTH = 500

TOO_DEEP = f"more than {MAX_DEPTH} levels"


class TooDeep(ValueError, RecursionError):
    """Values are nested more deeply than ``MAX_DEPTH``, or hold themselves; or bytes stand for
    such.

    It is a ValueError as other values that are not taken raise it, and a RecursionError as a
    library raises it that stops by itself.
    """

    def __init__(self) -> None:
        super().__init__(TOO_DEEP)


class HeldOften(ValueError):
    """Values are far larger where each is written in every place where it stands: ``whole`` bytes
    in memory."""

    def __init__(self, whole: int, times: int) -> None:
        super().__init__(
            f"parts of it stand in many places, and written in each they make it {times:,} times as"
            " large"
        )
        self.whole = whole


def says_depth(error: Exception) -> bool:
    """Whether a library that tells it in words alone (msgpack, orjson, ormsgpack) did not write a
    value for its levels."""
    return "recursion" in str(error).lower()
