"""What an error says of a source that is compressed."""

from __future__ import annotations

from serialpack.compressed.source import compression_named
from serialpack.errors import SerialpackError
from serialpack.files.source import Source

#: Where a command in a hint reads the file itself, and is to read what is in it.
_FILE = "<FILE"

#: By compression, the tool that undoes it.
_TOOLS = {"bzip2": "bzip2", "gzip": "gzip", "LZ4": "lz4", "zstd": "zstd", "brotli": "brotli"}


def tell_source(error: SerialpackError, source: Source) -> None:
    """Name ``source`` in an error that names no file, and have the commands in its hint read what
    is in it, where it is compressed. FileError as of ``Source.check_damage``."""
    source.check_damage(error)
    error.path = error.path or source.path
    if error.hint is None or _FILE not in error.hint or not error.path:
        return
    if error.path.endswith(".spk"):
        error.hint = error.hint.replace(_FILE, "< <(serialpack unpack FILE -o -)")
    elif (kind := compression_named(error.path)) is not None:
        error.hint = error.hint.replace(_FILE, f"< <({_TOOLS.get(kind, 'xz')} -dc FILE)")
