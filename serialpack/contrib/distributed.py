"""serialpack's serialization in messages of dask.distributed: a family beside "dask" and "pickle".

A message is what the serializer ``objects`` makes of a value, and each large buffer of an array is
a frame beside it, where it lies. What has 64 KiB and five samples that promise to shrink is
compressed, its bytes shuffled by item size first; what they must promise is distributed's own rule
(``distributed.protocol.compression.maybe_compress``). What ``objects`` does not hold the next
family takes. Nothing that is read runs code, or imports a module.

https://distributed.dask.org/en/stable/serialization.html
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from typing import Any

from serialpack.auto.records import SAMPLE
from serialpack.auto.worth import spread
from serialpack.collector import gc_paused
from serialpack.depth import TooDeep
from serialpack.errors import CodecError, DamagedError, MissingLibraryError
from serialpack.formats.python.buffers import LARGE
from serialpack.pipeline.squeeze import Squeeze
from serialpack.serializers.base import FAILURES
from serialpack.serializers.objects.arrays import array_over
from serialpack.serializers.objects.objects import ObjectsSerializer
from serialpack.serializers.objects.read import load_over
from serialpack.stages.chain import parse_chain
from serialpack.stages.stage import Buffer

NAME = "serialpack"

#: The largest share of a buffer that compression may leave of it.
_MOST_LEFT = 0.7

#: Bytes of a buffer that are compressed at a time; they are restored in memory that is used again.
_PART = 4 << 20

#: The sizes of items that are tried for shuffling; 0: the buffer is not compressed.
_ITEMS = 1, 2, 4, 8

Header = dict[str, Any]


def register(*, arrays: bool = False, compress: bool = True) -> None:
    """Make the family "serialpack" known to distributed, in this process.

    Each process needs it: ``client.run(register)``, or ``--preload serialpack.contrib.dask`` of a
    worker. ``Client(serializers=["serialpack", "dask", "pickle"])`` uses it for what goes to that
    client and comes from it. Workers among themselves ask the family "dask": ``arrays`` makes that
    send NumPy's as this one does, and it must be so in all processes then. ``compress=False``
    leaves buffers as they are, for a network of more than some 200 MB/s (docs/dask.md).

    MissingLibraryError without distributed.
    """
    try:
        from distributed.protocol.serialize import register_serialization_family
    except ImportError:
        raise MissingLibraryError(
            "distributed is not installed", hint="pip install 'serialpack[dask]'"
        ) from None
    register_serialization_family(  # type: ignore[no-untyped-call]
        NAME, partial(dumps, compress=compress), loads
    )
    if arrays:
        _register_arrays(compress)


def dask_setup(_: object) -> None:
    """What distributed calls in a process that preloads this module."""
    register()


def _register_arrays(compress: bool) -> None:
    import distributed.protocol.numpy
    import numpy as np
    from distributed.protocol.serialize import register_serialization

    theirs = distributed.protocol.numpy

    def dump(array: Any, context: Any = None) -> tuple[Header, list[Buffer]]:
        try:
            return dumps(array, compress=compress)
        except NotImplementedError:
            header, frames = theirs.serialize_numpy_ndarray(array, context)
            return header, frames

    def load(header: Header, frames: Sequence[Buffer]) -> Any:
        ours = NAME in header
        return loads(header, frames) if ours else theirs.deserialize_numpy_ndarray(header, frames)

    register_serialization(np.ndarray, dump, load)  # type: ignore[no-untyped-call]


def dumps(obj: Any, *, compress: bool = True) -> tuple[Header, list[Buffer]]:
    """A header and frames for ``loads``; NotImplementedError for what is left to the next
    family."""
    try:
        with gc_paused(0):
            message, buffers = _serializer().message(obj)
    except (*FAILURES, TooDeep) as error:
        raise NotImplementedError(str(error)) from None
    told: list[tuple[int, int, int]] = []
    frames: list[Buffer] = []
    for buffer in (memoryview(message), *buffers):
        item, made = _squeezed(buffer) if compress else (0, [])
        told.append((buffer.nbytes, item, len(made) or 1))
        frames += made or [buffer]
    return {NAME: told}, frames


def loads(header: Header, frames: Sequence[Buffer]) -> Any:
    """The object that ``dumps`` made ``header`` and ``frames`` of; DamagedError where these are not
    whole."""
    left = iter(frames)
    try:
        message, *buffers = [_buffer(left, *told) for told in header[NAME]]
        with gc_paused(len(message)):
            (obj,) = load_over(message, buffers, array_over)
    except (*FAILURES, CodecError, StopIteration) as error:
        raise DamagedError(f"no message of {NAME}'s ({error})") from None
    return obj


@lru_cache(1)
def _serializer() -> ObjectsSerializer:
    return ObjectsSerializer("objects")


@lru_cache(len(_ITEMS))
def _squeeze(item: int) -> Squeeze:
    return Squeeze(parse_chain(f"objects+shuffle:{item}+blosc-lz4"))


def _squeezed(buffer: memoryview) -> tuple[int, list[Buffer]]:
    """The size of the items by which ``buffer`` was shuffled, and its compressed parts; 0 and none
    where that does not pay."""
    if buffer.nbytes < LARGE:  # trying it takes 0.1 ms
        return 0, []
    sample = spread(buffer, max(_ITEMS))
    item = min(_ITEMS, key=lambda item: len(_squeeze(item).forward(sample[:SAMPLE])))
    squeeze = _squeeze(item)
    if len(squeeze.forward(sample)) > _MOST_LEFT * len(sample):
        return 0, []
    parts = [squeeze.forward(buffer[at : at + _PART]) for at in range(0, buffer.nbytes, _PART)]
    return (item, parts) if sum(map(len, parts)) <= _MOST_LEFT * buffer.nbytes else (0, [])


def _buffer(frames: Iterator[Buffer], size: int, item: int, count: int) -> Buffer:
    """The buffer of ``size`` bytes that the next ``count`` frames hold; it can be written to.
    ValueError or CodecError where they do not."""
    import numpy as np  # its memory is on large pages, and not filled with zeros first

    parts = [next(frames) for _ in range(count)]
    if not item:
        (buffer,) = parts
        if memoryview(buffer).nbytes != size:
            raise ValueError(f"{size} bytes are announced")
        copied = memoryview(buffer).readonly
        return memoryview(np.array(memoryview(buffer))) if copied else buffer  # type: ignore[arg-type]
    restored = memoryview(np.empty(size, "u1"))  # type: ignore[arg-type]
    squeeze = _squeeze(item)
    for at, part in zip(range(0, size, _PART), parts, strict=True):
        room = restored[at : min(at + _PART, size)]
        found = squeeze.backward(part, len(room), room)
        if found is not room:
            room[:] = found
    return restored
