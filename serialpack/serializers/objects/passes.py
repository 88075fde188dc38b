"""Messages of ``objects`` written in as many passes as that takes: where there turn out to be many
numbers, rows or objects of a class, anew, by columns; or small arrays, with these beside it."""

from __future__ import annotations

from functools import partial
from typing import Any

from serialpack.collector import gc_paused
from serialpack.formats.shared.recursion import with_room
from serialpack.serializers.objects._referred import Entangled
from serialpack.serializers.objects.read import CALLS_A_LEVEL
from serialpack.serializers.objects.write import ExtensionWriter, ManySmall


def written(records: list[Any], **how: bool) -> ExtensionWriter:
    """A message for each of ``records``, as ``ExtensionWriter`` is told to write them."""
    return with_room(CALLS_A_LEVEL, partial(_write, records, how))


def _write(records: list[Any], how: dict[str, bool], most: int) -> ExtensionWriter:
    # No function inside the one above that calls itself: as a cycle it would hold the records.
    writer = ExtensionWriter(most, **how)
    done = False
    try:
        writer.write(records)
        done = True
    except ManySmall:
        pass
    finally:
        worth = "columns" not in how and writer.is_worth_columns()
        writer.close()
    if worth:
        with gc_paused():
            other = _by_columns(records, {**how, "columns": True}, most)
        if other.made or not other.is_worth_buffers():
            return other
        how = {**how, "columns": False}
    if not done:
        return _write(records, {**how, "rows": True}, most)
    if "small" not in how and writer.is_worth_buffers():
        return _write(records, {**how, "small": True}, most)
    return writer


def _by_columns(records: list[Any], how: dict[str, bool], most: int) -> ExtensionWriter:
    try:
        return _write(records, how, most)
    except Entangled:
        return _write(records, {**how, "referring": False}, most)
