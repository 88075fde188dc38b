"""The serializers: records to bytes and back, and which values each can hold.

Enter at ``SERIALIZERS``, which makes a serializer by its name; ``base.Serializer`` is the contract.
One file a serializer, or a package where it takes several. To add one: a class here, and a line in
``stages/registry.py``.

Those whose first letter is ``_`` are what several share. ``objects`` has a package of its own,
above the others. ``one_object`` takes one object through a serializer and back, with the proof, and
``hooks`` its ``default`` and ``object_hook``; ``cached`` keeps those that read objects.
``refused`` finds which part of a value is not held, ``holders`` who else holds it. ``of_format``
leaves the work to a format.

- exact: whatever the source, its very bytes come back (``raw``, ``columns``)
- stored format: the format that its bytes are in; what one serializer wrote, all of its format read
- unfit: a value that is not what a schema of protobuf says, with its path
- cannot, partly: the kinds of values (``values.kinds``) that it refuses, always or sometimes
"""

from __future__ import annotations

from serialpack.errors import MissingLibraryError
from serialpack.serializers.base import Serializer
from serialpack.stages import registry
from serialpack.stages.stage import Registry

__all__ = ["SERIALIZERS", "reader"]

SERIALIZERS: Registry[Serializer] = registry.SERIALIZERS


def reader(name: str, values: tuple[int, ...] = ()) -> Serializer:
    """A serializer that reads what ``name`` wrote: itself, or where its library is absent another
    of the same format. MissingLibraryError where there is none.
    """
    try:
        return SERIALIZERS.create(name, values)
    except MissingLibraryError:
        stored = SERIALIZERS.cls(name).stored_format
        for entry in SERIALIZERS:
            cls = SERIALIZERS.cls(entry.name)
            if cls.stored_format == stored and cls.missing(entry.name) is None:
                return SERIALIZERS.create(entry.name)
        raise
