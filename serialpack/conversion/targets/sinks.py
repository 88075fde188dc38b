"""Opens what a conversion writes to: a file, compressed if its name says so, or a file object."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from serialpack.api import Target, sink
from serialpack.compressed.source import compression_named
from serialpack.compressed.write import CompressedWrite, compressed_as
from serialpack.conversion.targets.joining import Patch
from serialpack.far import is_far
from serialpack.files.output import Output
from serialpack.files.targets import is_device
from serialpack.stages.stage import Buffer, Write

#: So many bytes are held back at most.
_MOST_HELD = 1 << 20


class HeldWrite:
    """Holds back the front of what is written until it is known that it is not refused.

    What went to a pipe cannot be taken back. ``release`` writes it, as does more than 1 MiB.
    """

    def __init__(self, write: Write) -> None:
        self._write = write
        self._held: bytearray | None = bytearray()

    def __call__(self, data: Buffer) -> None:
        if self._held is None:
            self._write(data)
            return
        self._held += data
        if len(self._held) > _MOST_HELD:
            self.release()

    def release(self) -> None:
        """Write what is held, and from now on everything at once."""
        held, self._held = self._held, None
        if held:
            self._write(held)


class OpenTarget(NamedTuple):
    """What to write with. ``patch`` writes over what was written, where that can be done;
    ``plain`` writes as ``sink`` does; ``so_far``: where a file is read before it has its name."""

    write: Write
    plain: Write
    patch: Patch | None
    compressed: CompressedWrite | None
    so_far: Callable[[], str] | None

    def size(self, given: int) -> int:
        """The bytes of the target, for which ``given`` were written; once it is whole."""
        return given if self.compressed is None else self.compressed.written


def is_own_file(target: Target) -> bool:
    """Whether ``target`` is a new file on this machine, to be written as it is."""
    if not isinstance(target, str | os.PathLike) or is_device(target):
        return False
    path = os.fspath(target)
    return not is_far(path) and compression_named(path) is None


@contextmanager
def opened_target(
    target: Target, force: bool, like: os.stat_result | None, *, verify: bool
) -> Iterator[OpenTarget]:
    """As ``sink``, compressed where a path says so; ``verify``: that is undone, and compared."""
    named = os.fspath(target) if isinstance(target, str | os.PathLike) else ""
    with (
        sink(target, force, like) as write,
        compressed_as(write, compression_named(named), verify=verify) as compressed,
    ):
        owner = getattr(write, "__self__", None)
        # What a FarOutput has sent is sent.
        own = owner if type(owner) is Output and compressed is None else None
        patch, so_far = (None, None) if own is None else (own.patch, own.so_far)
        yield OpenTarget(compressed or write, write, patch, compressed, so_far)
