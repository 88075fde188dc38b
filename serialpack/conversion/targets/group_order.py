"""Arrays by name in the order that a file of datasets has: by group, each group once.

A file of datasets (HDF5) is a tree of groups, so that ``a/x``, ``b/y``, ``a/z`` come back as
``a/x``, ``a/z``, ``b/y``.
"""

from __future__ import annotations

from typing import Any

from serialpack.conversion.losses.losses import Losses
from serialpack.conversion.targets.uniform_types import KEY_ORDER
from serialpack.formats.arrays.hdf5.names import Names
from serialpack.values.kinds import Loss, shown


def by_group(records: list[Any], losses: Losses, first_record: int) -> list[Any]:
    """The records, maps of arrays by name, in the order of a file, where ``losses`` allows it."""
    if KEY_ORDER not in losses.allowed:
        return records
    made = list(records)
    for number, record in enumerate(records):
        if type(record) is dict and all(type(name) is str for name in record):
            names = Names(record).grouped()
            losses.merge(other_order([*record], names, first_record + number))
            made[number] = {name: record[name] for name in names}
    return made


def other_order(names: list[str], became: list[str], record: int = 0) -> list[Loss]:
    """What is told where ``names`` became ``became``."""
    for was, now in zip(names, became, strict=True):
        if was != now:
            return [Loss(KEY_ORDER, 1, record, "$", shown(was), shown(now))]
    return []
