"""Python's objects, read as the files that people take them for.

An object that ``dump`` held without pickle, or a pickle or an array of objects that the user
trusts, becomes an .npy file where it is an array, an .npz file where it is arrays by name, Arrow
where it is a table, and pickled plain values where it is anything else.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

from serialpack.api import HEAD
from serialpack.compressed.pieces import Pieces
from serialpack.conversion.losses.library_values import (
    LIBRARIES,
    PlainMaker,
    array_of,
    is_array,
    is_table,
    lost_of,
    rows_of,
    table_of,
)
from serialpack.conversion.losses.losses import Losses, check_dropped
from serialpack.conversion.losses.rules import ARRAYS
from serialpack.conversion.plan import ConversionPlan
from serialpack.conversion.sources.content import Content
from serialpack.errors import DamagedError, InputError, RefusedError, UnsupportedError
from serialpack.formats import FORMATS
from serialpack.formats.arrays.header import read_head, read_header
from serialpack.formats.arrays.made import npy_of_value, npy_pieces
from serialpack.formats.arrays.zipped import opened_entries, zip_pieces
from serialpack.formats.base import Read, ValueFormat
from serialpack.formats.python.pickle import OLD_TEXT, PROTOCOL, dump_pickle, load_converted
from serialpack.formats.shared.document import Malformed, Unwritable
from serialpack.formats.shared.random_access import FileRead, sought
from serialpack.formats.shared.recursion import frames_for
from serialpack.serializers.base import FAILURES
from serialpack.serializers.cached import kept_reader
from serialpack.serializers.objects.of_arrow import stream_of
from serialpack.serializers.one_object import deserialized
from serialpack.stages.stage import Buffer
from serialpack.values.kinds import Loss, shown, totals, value_step

#: Calls that each level of an object takes, at most, where it is made plain and pickled.
_CALLS_A_LEVEL = 3


def from_object(
    content: Content, at: str | None, to: str, losses: Losses, *, tagged: bool
) -> tuple[Content, str | None]:
    """``content``, whose bytes are those of an object, as a format that is converted to ``to``; and
    the path in it that is still to be taken, of ``at``. As it is where there is no object.

    InputError for pickles that cannot be loaded, DamagedError, UnsupportedError for a class that is
    not here, RefusedError for items that no value holds, and for values that are no arrays where
    ``to`` has only these, MissingLibraryError.
    """
    if content.plan.source == "pickle":
        if to == "pickle":
            return content, at
        content, objects = _pickled(content, to, losses)
        if len(objects) != 1:
            return _as_values(
                content, objects, to, losses, tagged=tagged
            ) if objects else content, at
        (obj,) = objects
    else:
        of_arrays = content.plan.source != "object"
        obj, old = _arrays_of_objects(content) if of_arrays else (_loaded(content), None)
        content = _with(content, old, to, losses)
    if obj is None and content.plan.source in ARRAYS:
        return content, at
    if to == "pickle" and at is None:
        return _as(content, "pickle", [dump_pickle(obj, PROTOCOL)]), at
    found = None if at is None else _at(obj, at)
    if found is not None:
        obj, at = found, None
    if is_array(obj) and not tagged:
        return _as(content, "npy", npy_pieces(array_of(obj))), at
    if is_table(obj):
        lost = totals(
            Loss(rule, 1, 0, "$", shown(was), shown(now)) for rule, was, now in lost_of(obj)
        )
        content = content._replace(dropped=content.dropped + _told(lost, to, losses))
        if (table := table_of(obj)) is not None:
            made = _as(content, "arrow", [stream_of(table)])
            return made._replace(made=False), at
        obj = rows_of(obj)
    if to in ARRAYS and type(obj) is dict and any(map(is_array, obj.values())):
        maker = PlainMaker(frozenset({tuple}) if "sequences" in losses.allowed else frozenset())
        files = [(name, _npy(name, value, maker, to)) for name, value in obj.items()]
        carried = content.dropped + _told(maker.losses(), to, losses)
        return _as(content, "npz", zip_pieces(files))._replace(dropped=carried), at
    made = _as_values(content, [obj], to, losses, tagged=tagged)
    plan = made.plan._replace(alone=True, source_serializer=("pickle", (PROTOCOL,)))
    return made._replace(plan=plan), at


def _as_values(
    content: Content, objects: list[Any], to: str, losses: Losses, *, tagged: bool
) -> Content:
    """Pickles of ``objects``, plain but where tags are to say what they are."""
    maker = PlainMaker()
    with frames_for(_CALLS_A_LEVEL):
        plain = objects if tagged else maker.changed(objects, 0)
        pickles = [dump_pickle(each, PROTOCOL) for each in plain]
    made = _as(content, "pickle", pickles)
    return made._replace(made=False, dropped=content.dropped + _told(maker.losses(), to, losses))


def _with(content: Content, old: Loss | None, to: str, losses: Losses) -> Content:
    """``content`` with what was read of Python 2; refused by ``--strict``."""
    return (
        content
        if old is None
        else content._replace(dropped=content.dropped + _told([old], to, losses))
    )


def _told(found: list[Loss], to: str, losses: Losses) -> tuple[Loss, ...]:
    """``found``, where all of it is allowed; ValueRefusedError for what is not."""
    check_dropped(found, losses, to)
    counted = Losses(losses.allowed)
    counted.merge(found)
    counted.check_carried(to)
    return tuple(found)


def _loaded(content: Content) -> Any:
    """The object that a container is of; DamagedError, UnsupportedError."""
    name, settings = content.stored
    serializer = kept_reader((name or "", ()), settings, None)
    pieces: list[Buffer] = []
    while data := content.read(1 << 24):
        pieces.append(data)
    try:
        return deserialized(serializer, [bytearray().join(pieces)])
    except UnsupportedError as error:
        raise UnsupportedError(
            error.message, hint="serialpack.load reads it where its classes are imported"
        ) from None
    except FAILURES as error:
        raise DamagedError(f"{serializer.name} cannot read it ({error})") from None


def _pickled(content: Content, to: str, losses: Losses) -> tuple[Content, list[Any]]:
    """The objects of a source of pickles of what those libraries have; else none, and the source
    as it was."""
    if not any(name.encode() in content.head for name in LIBRARIES):
        return content, []
    data = b"".join(iter(partial(content.read, 1 << 24), b""))
    content = content._replace(read=BytesIO(data).read)
    try:
        objects, old = load_converted(data)
        return _with(content, old, to, losses), objects
    except Malformed:  # which is said when it is read
        return content, []


def _arrays_of_objects(content: Content) -> tuple[Any, Loss | None]:
    """The array of objects of an .npy file, or all arrays by name of an .npz file where one is of
    such; None where there is none, and of a large one out of a pipe, which is not read twice. And
    what was read of Python 2."""
    read = content.read
    try:
        if content.plan.source == "npy" and _has_objects(content.head):
            data = b"".join(iter(partial(read, 1 << 24), b""))
            return _with_objects(BytesIO(data))
        again = isinstance(read, FileRead) and (read.path or read.opened)
        if content.plan.source == "npz" and (again or len(content.head) < HEAD):
            whole: Any = sought(read) if again else nullcontext(BytesIO(content.head))
            with whole as file:
                found = opened_entries(file)
                if any(_has_objects(read_head(read_entry)) for _, read_entry in found):
                    return _with_objects(file)
    except Malformed:  # which is said when it is read
        return None, None
    except Exception as error:  # whatever pickles of others raise
        words = " ".join(str(error).split())
        raise InputError(f"its objects cannot be loaded: {type(error).__name__}: {words}") from None
    return None, None


def _with_objects(file: Any) -> tuple[Any, Loss | None]:
    """As ``load_converted``, the array of an .npy file, or those of an .npz file by name."""
    try:
        return _by_numpy(file, "ASCII"), None
    except UnicodeError:
        return _by_numpy(file, "latin1"), OLD_TEXT


def _by_numpy(file: Any, encoding: Any) -> Any:
    """What NumPy loads of a file with pickled objects: an array, or arrays by name."""
    import numpy as np

    if not isinstance(file, Path):
        file.seek(0)
    found = np.load(file, allow_pickle=True, encoding=encoding)
    if isinstance(found, np.ndarray):
        return found
    with found:
        return dict(found)


def _has_objects(head: bytes) -> bool:
    try:
        return read_header(head).has_objects
    except Malformed:
        return False


def _as(content: Content, format: str, pieces: Iterable[Buffer]) -> Content:
    """What ``pieces`` are, a source in ``format``."""
    read: Read = Pieces(iter(pieces)).read
    fmt = FORMATS.get(format)
    if isinstance(fmt, ValueFormat) and fmt.in_file:
        read = FileRead(read)
    plan = ConversionPlan(format, fields=content.plan.fields)
    return content._replace(
        read=read, plan=plan, stored=(None, {}), made=True, as_it_is=False, packed="object"
    )


def _at(obj: Any, path: str) -> Any:
    """The array, or the table, at ``path``; None where there is none."""
    for step in [path] if type(obj) is dict and path in obj else path.split("."):
        obj = obj.get(step) if type(obj) is dict else None
    return obj if hasattr(obj, "dtype") or is_table(obj) else None


def _npy(name: Any, value: Any, maker: PlainMaker, to: str) -> list[Buffer]:
    """The .npy file of an array, or of a value that becomes one."""
    if is_array(value):
        return npy_pieces(array_of(value))
    path = f"${value_step(name)}"
    with maker.at(name):
        made = maker.walked(value)
    try:
        if type(name) is not str:
            raise ValueError("its name is no text")
        return [npy_of_value(made, path)]
    except (Unwritable, ValueError) as error:
        raise RefusedError(
            f"{path} is no array, and {to} has only these: {shown(value)}",
            hint="--at NAME -o NAME.npy takes one array",
        ) from error
