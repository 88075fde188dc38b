"""The limit, and the error where a value is beyond it."""

from __future__ import annotations

#: Containers within containers that a record may be. The least of what the libraries keep is
#: about 1000 less the caller's own frames (CPython's default recursion limit); half is for them.
#: So many levels fit in a stack of 512 KiB, the smallest that a thread is usually given.
MAX_DEPTH = 500

TOO_DEEP = f"more than {MAX_DEPTH} levels"


class TooDeep(ValueError, RecursionError):
    """Values, or bytes that say such, nested more deeply than ``MAX_DEPTH``, or without an end.

    A value that is not taken, like others; and what a library raises that stops on its own.
    """

    def __init__(self) -> None:
        super().__init__(TOO_DEEP)
