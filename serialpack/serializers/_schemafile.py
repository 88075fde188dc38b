"""A schema that the user names: read from its file, and small enough for a header."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from serialpack.errors import UsageError
from serialpack.files.source import file_error

#: The most bytes of a header's 32 KiB that a schema may take.
MAX_SCHEMA = 24 << 10


def read_schema(path: Any) -> bytes:
    """The bytes of the file at ``path``. UsageError for what is no path, FileError."""
    if not isinstance(path, str | os.PathLike):
        raise UsageError(f"a schema is given as the path of its file, not as {path!r:.40}")
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise file_error(error, os.fspath(path), "read the schema") from None


def check_size(schema: bytes | str) -> None:
    """UsageError where ``schema`` is too large to be kept in a header."""
    size = len(schema)
    if size > MAX_SCHEMA:
        raise UsageError(
            f"the schema takes {size} bytes in the header, the most is {MAX_SCHEMA}",
            hint="leave out of it what this message does not use",
        )
