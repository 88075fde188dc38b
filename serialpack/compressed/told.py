"""What an error says of a source that is compressed."""

from __future__ import annotations

import re

from serialpack.compressed.source import compression_named
from serialpack.errors import SerialpackError
from serialpack.files.source import Source
from serialpack.formats.foreign import UNDONE_BY

#: A command in a hint, with the file itself as its input.
_READS_FILE = re.compile(r"(^|; )((?:'[^']*'|[^;'])*?) <FILE")


def tell_source(error: SerialpackError, source: Source) -> None:
    """Name ``source`` in an error that names no file, and have the commands in its hint read what
    is in it, where it is compressed. FileError as of ``Source.check_damage``."""
    source.check_damage(error)
    error.path = error.path or source.path
    if error.hint is None or not error.path:
        return
    if error.path.endswith(".spk"):
        undone = "serialpack unpack FILE -o -"
    elif (kind := compression_named(error.path)) is not None:
        undone = f"{UNDONE_BY[kind.lower()]} FILE"
    else:
        return
    error.hint = _READS_FILE.sub(rf"\1{undone} | \2", error.hint)
