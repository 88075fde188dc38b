"""Makes a source seekable, which salvage needs: it reads the index first, wherever it stands."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, cast

from serialpack.container.reader import SNIFF, is_small
from serialpack.container.small import MAX_SMALL, Small
from serialpack.errors import DamagedError
from serialpack.files.source import Source
from serialpack.formats.shared.random_access import put


def whole_small(source: Source) -> bool:
    """Whether ``source`` is one whole small form: there is nothing to salvage, it is just
    unpacked."""
    try:
        return is_small(source.peek(SNIFF)) and bool(Small.decode(source.peek(MAX_SMALL + 1)))
    except DamagedError:
        return False


@contextmanager
def sought(source: Source) -> Iterator[Source]:
    """``source``, if it is seekable; else a copy of it in a temporary file."""
    if source.seekable():
        yield source
        return
    with tempfile.TemporaryFile() as spool:
        while data := source.read(1 << 20):
            put(spool, data, source.path)
        spool.seek(0)
        found = Source(cast("IO[bytes]", spool), source.path)
        found.stat = None
        yield found
