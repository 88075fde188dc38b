"""Writers of objects, for ``dump`` and ``dumps``: a chain, its serializer, and a packer of small
forms.

A thread keeps its writers, since to make one takes longer than to pack most messages.
"""

import re
from collections.abc import Mapping
from threading import local
from typing import Any

from serialpack.auto.choice import Choice, choose
from serialpack.codecs import CODECS
from serialpack.errors import UsageError
from serialpack.filters import FILTERS
from serialpack.formats.base import Style
from serialpack.pipeline.small import SmallWriter
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.base import RecordSerializer
from serialpack.serializers.one_object import of_values

#: How many writers a thread keeps.
_MOST = 64


class Writer:
    """What writes objects through one chain. ``settings``: the serializer's, for the header."""

    __slots__ = ("choice", "serializer", "settings", "small")

    def __init__(self, choice: Choice, serializer: RecordSerializer, settings: Style) -> None:
        self.choice = choice
        self.serializer = serializer
        self.settings = settings
        self.small = SmallWriter(choice.chain, settings)


class _KeptWriters(local):
    """The writers of a thread that were asked for without options, by chain and effort."""

    def __init__(self) -> None:
        self.writers: dict[tuple[str, int], Writer] = {}


_kept = _KeptWriters()


def writer_of(chain: str, effort: int, options: Mapping[str, Any] | None) -> Writer:
    """The writer for ``chain`` (``msgpack+zstd``); what it leaves open, ``effort`` says.
    ``options``: what the serializer is told by name, as a schema. UsageError for a serializer of
    bytes, and as of ``auto.choice.choose``."""
    found = None if options else _kept.writers.get((chain, effort))
    if found is None:
        found = _made(chain, effort, options or {})
        if not options:
            if len(_kept.writers) >= _MOST:
                _kept.writers.clear()
            _kept.writers[chain, effort] = found
    return found


def _made(chain: str, effort: int, options: Mapping[str, Any]) -> Writer:
    """A writer for the ``chain``. UsageError for a chain that there is not."""
    name, *filters = chain.split("+")
    _check_first(name, chain)
    codec = filters.pop() if filters else "auto"
    choice = choose(name, tuple(filters), codec, effort=effort)
    serializer = of_values(SERIALIZERS.create(*choice.chain.serializer))
    settings = serializer.settings(options)
    serializer.configure(settings)
    return Writer(choice, serializer, settings)


def _check_first(name: str, chain: str) -> None:
    """UsageError where ``chain`` begins with a filter or codec, as ``zstd:19`` does, and not with
    the serializer ``name``."""
    word, last = (re.split("[:@/]", stage)[0] for stage in (name, chain.rpartition("+")[2]))
    kind = next((each.kind for each in (FILTERS, CODECS) if word in each), None)
    if kind is not None and word not in SERIALIZERS:
        whole = f"auto+{chain}" if last in CODECS else f"auto+{chain}+zstd"
        raise UsageError(
            f"{word} is a {kind}, which stands behind a serializer",
            hint=f"{whole!r} chooses one",
        )
