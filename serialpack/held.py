"""What a packed file is to Python that is one object: an array, or several by name."""

from __future__ import annotations

import io
from typing import Any

from serialpack.container.reader import SNIFF, first_header, is_container, is_small
from serialpack.errors import DamagedError, RefusedError
from serialpack.files.source import Source
from serialpack.formats import FORMATS
from serialpack.serializers.base import FAILURES


def arrays_of_file(source: Source, *, trust: bool) -> list[Any]:
    """The array of a packed file of one, or those of an ``.npz`` file by name, in memory; nothing
    where ``source``, of which no more than a header is read then, holds anything else.

    They are decoded block by block to where they stay. A pipe becomes a temporary file.
    """
    if is_small(head := source.peek(SNIFF)) or not is_container(head):
        return []
    declared = FORMATS.by_number(first_header(source.peek).format)
    if declared is None or declared.name == "object":
        return []
    from serialpack.formats.arrays.npz import NpzFormat
    from serialpack.formats.arrays.rows import ArrayFormat
    from serialpack.formats.shared.document import Malformed
    from serialpack.lazy import lazy_file
    from serialpack.pipeline.sought import sought
    from serialpack.pipeline.stored import StoredBytes

    fmt = FORMATS.get(declared.name)
    if not isinstance(fmt, ArrayFormat | NpzFormat):
        return []
    with sought(source) as opened:
        stored = StoredBytes(opened, trust=trust, closes=False)
        if not stored.is_source:
            return []
        try:
            if isinstance(fmt, ArrayFormat):
                found = lazy_file(fmt, stored)[...]
                return [found if found.flags.writeable else found.copy()]
            return [fmt.arrays(bytes(stored.read(0, len(stored))))]
        except Malformed as error:
            raise DamagedError(f"its arrays cannot be read ({error})") from None
        except (
            RefusedError
        ) as refused:  # Python objects, or more than so few bytes should unpack to
            if not trust:
                hint = "trust=True loads it, if you know who wrote it"
                raise RefusedError(refused.message, hint=hint) from None
            return [_unpickled(bytes(stored.read(0, len(stored))))]


def _unpickled(data: bytes) -> Any:
    """What NumPy makes of a file with Python objects in it."""
    import numpy as np

    try:
        found = np.load(io.BytesIO(data), allow_pickle=True)
        return dict(found) if isinstance(found, np.lib.npyio.NpzFile) else found
    except FAILURES as error:
        raise DamagedError(f"NumPy cannot read it ({error})") from None
