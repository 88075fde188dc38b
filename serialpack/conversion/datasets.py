"""Files of datasets, read as what each dataset is here: an array, or all of them arrays by name."""

from __future__ import annotations

from typing import Any

from serialpack.compressed.pieces import Pieces
from serialpack.conversion.given import Given
from serialpack.conversion.losses import Losses, check_dropped
from serialpack.conversion.rules import TABLES
from serialpack.errors import ValueRefusedError
from serialpack.formats import FORMATS
from serialpack.formats.shared.filed import as_file
from serialpack.values.kinds import AROUND, ATTRIBUTES, Loss
from serialpack.values.structure import Structure


def from_datasets(given: Given, at: str | None, to: str, losses: Losses) -> Given:
    """``given``, a file of datasets, as an array: that of ``at``, for tables and arrays the only
    one; or as all of them by name.

    Errors as of ``formats.arrays.hdf5.reader.asked``; ValueRefusedError for what ``losses`` does
    not allow.
    """
    from serialpack.formats.arrays.hdf5.reader import asked

    is_array = FORMATS.declaration(to).is_array
    file = as_file(given.read)
    how: dict[str, Any] = {"do": "all"}
    if at or is_array or to in TABLES:
        how = {"do": "one", "at": at, "as_array": is_array}
    answers = asked(file, **how)
    known = next(answers)
    lost = [_counted(ATTRIBUTES, known["dropped"])] if known["dropped"] else []
    check_dropped(lost, losses, to)
    if left := known.get("left"):
        told = [f"{name} ({why})" for name, why in left.items()]
        if AROUND not in losses.allowed:
            raise ValueRefusedError(
                f"datasets that are no arrays would be lost: {', '.join(told[:3])}",
                kind=AROUND,
                hint=f"--at NAME takes one dataset, --lossy {AROUND} leaves those out",
            )
        lost.append(_counted(AROUND, told))
    source = known["format"]
    plan = given.plan._replace(source=source)
    if rows := known.get("rows"):
        plan = plan._replace(structure=Structure.ARRAY if rows == "many" else None, alone=True)
    return given._replace(read=Pieces(answers).read, plan=plan, of=file, dropped=tuple(lost))


def _counted(rule: str, what: list[str]) -> Loss:
    return Loss(rule, len(what), 0, "$", what[0], "")
