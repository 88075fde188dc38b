"""What an error says of a source that is compressed."""

from __future__ import annotations

import re

from serialpack.compressed.source import compression_named
from serialpack.errors import SerialpackError
from serialpack.files.source import Source

#: A command in a hint, with the file itself as its input.
_READS_FILE = re.compile(r"(^|; )((?:'[^']*'|[^;'])*?) <FILE")

#: By compression, the tool that undoes it.
_TOOLS = {"bzip2": "bzip2", "gzip": "gzip", "LZ4": "lz4", "zstd": "zstd", "brotli": "brotli"}


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
        undone = f"{_TOOLS.get(kind, 'xz')} -dc FILE"
    else:
        return
    error.hint = _READS_FILE.sub(rf"\1{undone} | \2", error.hint)
