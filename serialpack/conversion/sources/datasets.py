"""Files that hold arrays by name, read as one array or as all of them.

The file of datasets (HDF5) becomes one array or an archive of all of them, an archive (.npz) the
one array that is asked for. Each function takes the ``Content`` of such a file and gives that of
what is made of it.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack
from functools import partial
from typing import Any

from serialpack.compressed.pieces import Pieces
from serialpack.conversion.losses.losses import Losses, check_dropped
from serialpack.conversion.losses.rules import TABLES
from serialpack.conversion.sources.content import Content
from serialpack.errors import InputError, ValueRefusedError, Ways
from serialpack.files.source import Source
from serialpack.formats import FORMATS
from serialpack.formats.arrays.zipped import opened_entry, other_entries
from serialpack.formats.shared.document import Malformed
from serialpack.formats.shared.random_access import FileRead, as_file, sought
from serialpack.values.kinds import AROUND, ATTRIBUTES, Loss, shown
from serialpack.values.structure import Structure

#: Bytes of an array that are read at a time.
_PIECE = 1 << 20


def from_datasets(
    content: Content, at: str | None, to: str, source: Source, losses: Losses
) -> Content:
    """``content``, a file of datasets, as an array: that of ``at``, for tables and arrays the only
    one; or as all of them by name. A copy that is made for what is read more than once is closed
    with ``source``.

    Errors as of ``formats.arrays.hdf5.reader.asked``; ValueRefusedError for what ``losses`` does
    not allow.
    """
    from serialpack.formats.arrays.hdf5.reader import asked

    file, target = as_file(content.read), FORMATS.declaration(to)
    how: dict[str, Any] = {"do": "all", "lists": not (target.has_arrays or target.has_datasets)}
    if at or target.is_array or to in TABLES:
        how = {"do": "one", "at": at, "as_array": target.is_array}
    answers = asked(file, **how)
    known = next(answers)
    lost = [_counted(ATTRIBUTES, known["dropped"])] if known["dropped"] else []
    check_dropped(lost, losses, to)
    if left := known.get("left"):
        told = [f"{name} ({why})" for name, why in left.items()]
        if AROUND not in losses.allowed:
            raise ValueRefusedError(
                f"datasets that no array holds would be lost: {', '.join(told[:3])}",
                kind=AROUND,
                hint=Ways((AROUND,), "leaves those out", ("--at NAME takes one dataset",)),
            )
        lost.append(_counted(AROUND, told))
    plan = content.plan._replace(source=known["format"])
    if rows := known.get("rows"):
        plan = plan._replace(structure=Structure.ARRAY if rows == "many" else None, alone=True)
    made = content._replace(made=True, of=file, dropped=tuple(lost))
    made = made._replace(read=Pieces(answers).read, plan=plan)
    return kept_copy(made, source) if plan.source == "npz" and plan.fields else made


def without_others(content: Content, source: Source, losses: Losses) -> Content:
    """``content``, an archive of arrays, where ``losses`` lets go whatever else is in it; a copy of
    a pipe that is made for that is closed with ``source``.

    ValueRefusedError where that would be lost.
    """
    file = as_file(content.read)
    if file.path is None and file.opened is None:
        content = kept_copy(content, source)
    try:
        with sought(content.read) as archive:
            others = [shown(name) for name in other_entries(archive)]
    except Malformed:  # which is said when it is read
        return content
    if not others:
        return content
    if AROUND not in losses.allowed:
        raise ValueRefusedError(
            f"entries that are no arrays would be lost: {', '.join(others[:3])}"
            + f" and {len(others) - 3} more" * (len(others) > 3),
            kind=AROUND,
            hint=Ways((AROUND,), "leaves those out", ("--at NAME takes one array",)),
        )
    return content._replace(dropped=(*content.dropped, _counted(AROUND, others)))


def kept_copy(content: Content, source: Source) -> Content:
    """``content``, read from a copy, which is closed with ``source``."""
    file, stack = as_file(content.read), ExitStack()
    source.close_with(stack.close)
    path = stack.enter_context(file.file())
    copy = FileRead(stack.enter_context(path.open("rb")).read, str(path))
    return content._replace(read=copy, of=content.of or file)


def from_archive(content: Content, at: str | None, source: Source) -> Content:
    """``content``, an archive of arrays, as that which ``at`` names, by default the only one; it is
    closed with ``source``.

    What is read raises InputError where there is none, or it is not sound, UsageError where there
    are several.
    """
    file = as_file(content.read)

    def pieces() -> Generator[bytes, None, None]:
        try:
            with sought(file) as archive, opened_entry(archive, at) as read:
                yield from iter(partial(read, _PIECE), b"")
        except Malformed as bad:
            raise InputError(f"not valid npz: {bad.message}") from None

    plan, reading = content.plan._replace(source="npy"), pieces()
    source.close_with(reading.close)
    of = content.of or file
    return content._replace(read=Pieces(reading).read, plan=plan, of=of, as_it_is=False)


def _counted(rule: str, what: list[str]) -> Loss:
    return Loss(rule, len(what), 0, "$", what[0], "")
