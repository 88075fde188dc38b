"""Files that are one object to Python: an array, several arrays by name, or a document. Each may be
packed or not, and compressed or not."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from serialpack.container.header import Header
from serialpack.container.reader import SNIFF, first_header, is_container, is_small
from serialpack.container.small import MAX_SMALL, end_of_damaged, first_small
from serialpack.detection.detect import HEAD, detect, looks_like
from serialpack.errors import (
    DamagedError,
    EmptyError,
    NotContainerError,
    RefusedError,
    UsageError,
)
from serialpack.files.source import UNNAMED, Source
from serialpack.formats import FORMATS
from serialpack.formats.base import Format, ValueFormat
from serialpack.formats.foreign import known_file
from serialpack.formats.python.buffers import (
    GatheredPieces,
    LengthOf,
    ScatteredFile,
    frame_length,
)
from serialpack.formats.python.found import may_be_pickle
from serialpack.objects.scaling import scaled_as_wanted
from serialpack.pipeline.plan import Plan
from serialpack.pipeline.small import unpack_small
from serialpack.pipeline.unpack import member_plan, restored_pieces, unpack_stream
from serialpack.pipeline.workers import usable_cores
from serialpack.serializers.base import FAILURES
from serialpack.stages.stage import Buffer
from serialpack.text import with_article

_FILE = "unpack(path, target) makes the file again"
_CONVERT = "convert(path, target) reads it"
_TRUSTED = "convert(path, target, trust=True) reads it, if you know who wrote it"

#: Bytes that are read at a time.
_PIECE = 4 << 20


def inside(source: Source) -> Source:
    """What is compressed in ``source``; ``source`` itself where it is not compressed, or a
    container."""
    if is_container(source.peek(SNIFF)):
        return source
    from serialpack.compressed.source import decompressed

    return decompressed(source)


def values_of_file(
    source: Source,
    document: Callable[..., Any],
    *,
    trust: bool,
    threads: int | None,
    scaled: bool | None,
) -> list[Any]:
    """The object that a file is, in a list: an array, the arrays of an ``.npz`` file by name, or a
    document. Nothing where ``source`` is a container of an object, which ``restored`` reads.

    ``source``: as ``inside`` gave it. ``document`` makes the value of a document: of a container,
    or of another file and the name of its format. ``scaled``: as of ``load``. NotContainerError or
    UsageError for any other file, of which no more is read than tells that.
    """
    if not is_container(head := source.peek(SNIFF)):
        return [_object_of(source, document, trust=trust, scaled=scaled)]
    if is_small(head):
        return []
    header = first_header(source.peek)
    declared = FORMATS.by_number(header.format)
    if declared is not None and declared.name == "object":
        return []
    if header.in_archive:
        hint = "unpack_archive(path, folder) makes its files again"
        raise UsageError("is an archive, not one object", hint=hint)
    fmt = FORMATS.get(member_plan(header, trust=trust).format)
    if fmt.name == "bytes":
        from serialpack.compressed.pieces import Pieces
        from serialpack.compressed.source import compression_of, packed_inside

        pieces = Pieces(restored_pieces(source.read, trust=trust, threads=threads or 1))
        if (packed := packed_inside(source, pieces, header.name)) is not None:
            how = compression_of(packed)
            return [_object_of(inside(packed), document, how, trust=trust, scaled=scaled)]
    if not _has_arrays(fmt):
        if _has_documents(fmt):
            return [document(source)]
        has_records = isinstance(fmt, ValueFormat) and not fmt.unpacked
        hint = f"open(path) has its records, {_FILE}" if has_records else _FILE
        raise UsageError(f"holds {with_article(fmt.name)} file, not one object", hint=hint)
    _, (data,) = gathered(source, _length_of(fmt), trust=trust, threads=threads)
    return [_arrays_in(fmt, data, trust=trust, scaled=scaled)]


def _object_of(
    source: Source,
    document: Callable[..., Any],
    packed: str | None = None,
    *,
    trust: bool,
    scaled: bool | None,
) -> Any:
    """As ``values_of_file``, of a file that is no container: the object itself.

    ``packed``: the compression that it is in, where that stands in a container. A document needs a
    name: bytes without one should be what ``dumps`` made.
    """
    head = source.peek(HEAD)
    fmt = FORMATS.get(detect(source.name, head))
    if _has_documents(fmt) and source.path != UNNAMED:
        try:
            return document(source, fmt.name)
        except UsageError:
            if head:
                raise
            raise EmptyError(looks_like(head)) from None  # which is an EOFError, as of pickle.load
    if not _has_arrays(fmt):
        hint = (_CONVERT if fmt.safe else _TRUSTED) if isinstance(fmt, ValueFormat) else None
        if packed is not None:
            said = f"holds {looks_like(head) or 'bytes'} in {packed}, not one object"
            raise UsageError(said, hint=f"{hint}, {_FILE}" if hint else _FILE)
        error = (NotContainerError if head else EmptyError)(looks_like(head))
        if hint is None and (known := known_file(head)) is not None:
            hint = known.instead or None
        if source.path == UNNAMED and may_be_pickle(head):
            hint = "pickle.loads(data) reads one, if you know who wrote it"
        error.hint = hint
        raise error
    pieces = GatheredPieces(_length_of(fmt))
    while piece := source.read(_PIECE):
        pieces.add(piece)
    (data,) = pieces.pieces() or [b""]
    return _arrays_in(fmt, data, trust=trust, scaled=scaled)


def _has_documents(fmt: Format) -> bool:
    return isinstance(fmt, ValueFormat) and not (fmt.unpacked or fmt.declared.sequence)


def _has_arrays(fmt: Format) -> bool:
    declared = fmt.declared
    return declared.is_array or (declared.has_arrays and not declared.has_datasets)


def _length_of(fmt: Format) -> LengthOf:
    from serialpack.formats.arrays.rows import ArrayFormat

    return fmt.length_of if isinstance(fmt, ArrayFormat) else _unknown


def gathered(
    source: Source, length_of: LengthOf = frame_length, *, trust: bool, threads: int | None
) -> tuple[Header, list[Buffer]]:
    """The header of the only member in ``source``, and what it restores to, in pieces as of
    ``GatheredPieces``. UsageError where there are several members. A file object of the caller's is
    read no further than the first member, and left behind it."""
    first = _is_of_caller(source)
    pieces, threads = GatheredPieces(length_of), threads or usable_cores()
    room = pieces.room
    done = unpack_stream(
        source.read, pieces.add, trust=trust, threads=threads, into=source, room=room, first=first
    )
    if first:
        with suppress(AttributeError, OSError, ValueError):  # a pipe, which is where it ought to be
            source.pass_over(0)
    if len(done.headers) > 1:
        raise UsageError("holds several, one after another, not one object", hint=_FILE)
    return done.headers[0], pieces.pieces()


def restored(source: Source, *, trust: bool, threads: int | None) -> tuple[Plan, list[Buffer]]:
    """How the object in ``source`` is to be read, and what its serializer wrote, in pieces."""
    if is_small(source.peek(SNIFF)):
        data = source.peek(MAX_SMALL + 1)
        if _is_of_caller(source) and (end := first_small(data) or end_of_damaged(data)):
            data = source.read(end)
            _set_behind(source)
        plan, content = unpack_small(data, trust=trust)
        return plan, [content]
    header, pieces = gathered(source, trust=trust, threads=threads)
    return member_plan(header, trust=trust), pieces


def _is_of_caller(source: Source) -> bool:
    """Whether ``source`` is a file object that the caller opened, and may read on from."""
    return type(source) is Source and not (source.owned or isinstance(source.file, ScatteredFile))


def _set_behind(source: Source) -> None:
    """Put the caller's file behind what was read of it: more may have been peeked at. UsageError
    for a pipe, where that cannot be."""
    try:
        source.pass_over(0)
    except (AttributeError, OSError, ValueError):
        said = "in a pipe, what dumps made cannot be told from what stands behind it"
        raise UsageError(
            said, hint="dump(obj, file) writes what load(file) reads one by one"
        ) from None


def _unknown(_: Buffer) -> int:
    return 0


def _arrays_in(fmt: Format, data: Buffer, *, trust: bool, scaled: bool | None) -> Any:
    from serialpack.formats.arrays.npz import NpzFormat
    from serialpack.formats.arrays.rows import ArrayFormat
    from serialpack.formats.shared.document import Malformed

    try:
        if isinstance(fmt, NpzFormat):
            return fmt.arrays(bytes(data))
        assert isinstance(fmt, ArrayFormat)
        found = fmt.array(data)
        found = found if found.flags.writeable else found.copy(order="K")
        scale = fmt.header_of(lambda start, stop: data[start:stop])[0].scale
        return scaled_as_wanted(found, scale, scaled=scaled)
    except Malformed as error:
        raise DamagedError(f"its arrays cannot be read ({error})") from None
    except RefusedError as refused:  # Python objects, or more than so few bytes should unpack to
        if trust:
            return _unpickled(bytes(data))
        hint = "trust=True loads it, if you know who wrote it"
        raise RefusedError(refused.message, hint=hint) from None


def _unpickled(data: bytes) -> Any:
    """What NumPy makes of a file with Python objects in it."""
    import numpy as np

    try:
        found = np.load(io.BytesIO(data), allow_pickle=True)
        return dict(found) if isinstance(found, np.lib.npyio.NpzFile) else found
    except FAILURES as error:
        raise DamagedError(f"NumPy cannot read it ({error})") from None
