"""Python objects into containers: ``dump``, ``dumps``.

An object is serialized whole, proved by reading it back and comparing strictly, and then packed
like any other bytes: in blocks, with checksums. ``unpack`` of such a container gives what the
serializer wrote.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from threading import Event
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from serialpack._version import __version__
from serialpack.api import Target, check_target, check_threads, sink
from serialpack.checked import check_arguments, checked
from serialpack.collector import gc_paused
from serialpack.errors import (
    PickleWarning,
    UsageError,
    ValueRefusedError,
)
from serialpack.files.source import Path
from serialpack.filters import FILTERS
from serialpack.formats.python.buffers import (
    LARGE,
    MARK,
    Scattered,
    ScatteredFile,
    frame_layout,
    is_framed,
)
from serialpack.pipeline.pack import pack_blocks, pack_smallest, ways_of
from serialpack.pipeline.packing import Packing, check_meta
from serialpack.pipeline.workers import usable_cores
from serialpack.pipeline.writers import Writer, writer_of
from serialpack.serializers.objects.columns import LONG
from serialpack.serializers.objects.guessed import may_have_columns
from serialpack.serializers.one_object import (
    Default,
    NotTaken,
    ObjectHook,
    dumped,
    lowered,
    proved,
)
from serialpack.stages.chain import Chain, parse_stage
from serialpack.stages.effort import DEFAULT_EFFORT
from serialpack.stages.stage import MAX_BLOCK, Buffer, Write
from serialpack.warned import warn_caller

if TYPE_CHECKING:
    from serialpack.formats.shared.large import LargeValue

#: What ``auto`` tries for an object, in this order: whoever holds it first. None needs anything
#: installed; all but the last are safe to load, and the first two are portable.
AUTO = ("msgpack", "json", "objects", "pickle")
#: What has so many numbers in a list is not tried by json, in which they are large and slow.
_MANY = 4096
#: Of fewer bytes no filter is tried, and of more a sample of so many; one that is worth it leaves
#: so much less.
_FEW, _WORTH = 4096, 0.9
#: What the first byte of a frame is.
_FRAMED = MARK[:1]
#: The types of values that json gives back: no proof is needed to see that it holds no others.
_OF_JSON = dict, list, str, int, float, bool, type(None)


class _MoreOptions(TypedDict, total=False):
    effort: int
    default: Default | None
    object_hook: ObjectHook | None
    options: Mapping[str, Any] | None
    meta: Mapping[str, str] | None
    threads: int | None
    shared_dict: Path | None


class DumpOptions(_MoreOptions, total=False):
    """What ``dump`` and ``dumps`` take by name, as ``dump`` explains it."""

    verify: bool


_OPTIONS = frozenset(DumpOptions.__annotations__)

#: What an object is packed by, and what its serializer wrote. No named tuple, as making one takes a
#: tenth of the time that a message has.
_Serialized = tuple[Writer, list[Buffer]]


@checked
def dump(
    obj: Any,
    target: Target,
    chain: str = "auto",
    *,
    force: bool = False,
    **how: Unpack[DumpOptions],
) -> None:
    """Pack ``obj`` into a container at ``target``, a path or a binary file object.

    ``chain`` names a serializer (``"msgpack"``, ``"pickle:5"``), or a whole chain
    (``"cbor+zstd:19"``). ``"auto"`` takes the first of msgpack, json and objects (which has arrays,
    tuples, dataclasses, named tuples, enums, objects that keep attributes alone, exceptions, what
    pandas, Arrow, polars and xarray have, sparse matrices) that holds the object, else pickle; then
    ``load`` needs ``trust``, which a PickleWarning says once. What has many numbers in lists is by
    objects too: as arrays, they are a fraction of their size. ``"auto+none"`` does so too, and
    compresses nothing. An array that is mapped (``numpy.memmap``) is packed as its items, for
    ``load`` to map again, or not. ``force`` overwrites a file. ``how``:

    ``effort`` (1 to 9, default 3) chooses what ``chain`` leaves open, levels too. The object is
    read back and compared, strictly, before anything is written; ``verify=False`` skips that, and
    then what a library changes silently, stays changed. Of an object whose class leaves something
    out where it is pickled, or gives None in its place (a cache, a connection, a lock), a
    DroppedWarning says what. A list, map, set or dataclass in two places comes back as two, but
    under pickle, which ``"auto"`` takes for what is far larger so (one row a million times); an
    array as one. ``default`` turns an object of an own class into plain values, as in
    ``json.dump``, and ``object_hook`` (what ``load`` will be given) turns the maps back into
    objects; the proof compares those with the originals, all attributes included. ``options``:
    what the serializer asks for by name (``schema`` and ``message``). ``meta``: words of your own
    for the header. ``threads`` defaults to the usable cores. ``shared_dict``: a dictionary for
    many small objects, as for ``pack``.

    Raises ValueRefusedError for a value that the serializer cannot hold, UsageError (a ValueError),
    FileError (a FileExistsError where ``target`` is there already), MissingLibraryError.

    >>> import numpy, serialpack
    >>> serialpack.dump({"mask": numpy.arange(3), "name": ("a", 1)}, "model.spk")
    >>> serialpack.load("model.spk")
    {'mask': array([0, 1, 2]), 'name': ('a', 1)}
    """
    _check(how)
    if target is None:
        raise TypeError("target must be a path or a binary file object, not None")
    check_target(target, force, None)
    packed = writer, pieces = _serialize(obj, chain, how.get("verify", True), how)
    if len(pieces) == 1 and "+" not in chain and not how.get("shared_dict"):
        packed = _with_filter(writer, pieces[0]), pieces
    with sink(target, force, None) as write:
        _pack(packed, how, write, tried="+" not in chain)


def dumps(
    obj: Any, chain: str = "auto", *, verify: bool = True, **more: Unpack[_MoreOptions]
) -> bytes:
    """``obj`` in a container, as bytes: a small one in the small form, of at most 48 bytes more
    than what its serializer wrote. Arguments and errors are those of ``dump``.

    >>> import serialpack
    >>> serialpack.loads(serialpack.dumps({"any": ["object"]}))
    {'any': ['object']}
    """
    if more or type(verify) is not bool:  # asking takes a tenth of the time that a message has
        _check({"verify": verify, **more})
    packed = writer, pieces = _serialize(obj, chain, verify, more)
    small = None
    if len(pieces) == 1 and not (more and more.get("meta")):
        data = pieces[0]
        if len(data) >= _FEW and "+" not in chain:
            writer = _with_filter(writer, data)
        small = writer.small.pack(data, verify)
        # In a frame are lists of numbers, for which chains are tried.
        framed = data[:1] == _FRAMED
        if small is not None and not framed and not (more and more.get("shared_dict")):
            return small
    written: list[Buffer] = []
    _pack(packed, {"verify": verify, **more}, written.append, tried="+" not in chain)
    from serialpack.memory import joined

    large = joined(written)
    return large if small is None or len(large) < len(small) else small


def _with_filter(writer: Writer, data: Buffer) -> Writer:
    """What writes ``data``: where it is arrays of numbers, with their bytes of equal weight
    together, if that leaves less of a sample."""
    small = _FEW <= len(data) <= LARGE
    item = writer.serializer.item_of_arrays(data) if small else 0
    if item < 2 or writer.choice.chain.plain:
        return writer
    filters = (parse_stage(FILTERS, f"shuffle:{item}"),)
    other = writer_of(str(writer.choice.chain._replace(filters=filters)), DEFAULT_EFFORT, None)
    start = (len(data) - _FEW) // 2
    sample = bytes(data[start : start + _FEW])
    plain, filtered = (each.small.pack(sample, False) or sample for each in (writer, other))
    return other if len(filtered) < _WORTH * len(plain) else writer


def _check(how: DumpOptions) -> None:
    """TypeError for another argument or type, UsageError for a value that one cannot have."""
    for name in how:
        if name not in _OPTIONS:
            how_else = 'chain says how to pack, as "auto+zlib:3" and "pickle:4" do'
            raise TypeError(f"dump and dumps have no argument {name!r}; {how_else}")
    check_arguments(DumpOptions, how)
    if "threads" in how:
        check_threads(how["threads"])
    if "meta" in how:
        check_meta(how["meta"])


def _pack(packed: _Serialized, how: DumpOptions, write: Write, *, tried: bool) -> None:
    """Pack it. ``tried``: whether filters and codecs may be tried on its large values."""
    writer, pieces = packed
    choice, data = writer.choice, Scattered(pieces)
    # An object is read whole: what nobody compresses is read fastest in few pieces.
    plain = choice.chain.plain
    packing = Packing(
        chain=choice.chain,
        format="object",
        block_size=MAX_BLOCK if plain else choice.block_size,
        meta=dict(how.get("meta") or {}),
        writer=__version__,
        verify=how.get("verify", True),
        threads=how.get("threads") or usable_cores(),
        size=len(data),
        settings=writer.settings,
    )
    ways = ways_of(packing, choice.shared, how.get("shared_dict"), len(data))
    if plain and is_framed(data.read(0, len(MARK))):
        from serialpack.pipeline.in_place import pack_in_place

        pack_in_place(data, frame_layout(data.read, len(data)).buffers[0].start, write, packing)
    elif len(ways) == 1 and (values := _large_values(choice.chain, data)):
        from serialpack.auto.extents import LEAST_TRIED, apart

        # To make arrays of lists has taken as long as to try chains for them.
        worth = len(data) >= LEAST_TRIED or any(value.listed for value in values)
        found = apart(choice, values, data.read, tried=tried, few=not worth)
        blocks = found.blocks(data.read, len(data), packing.block_size, records=1)
        pack_blocks(blocks, write, packing._replace(chain=found.chain))
    else:
        pack_smallest(ScatteredFile(data).read, write, ways)


def _large_values(chain: Chain, data: Scattered) -> "list[LargeValue]":
    if len(data) < LARGE and not is_framed(data.read(0, len(MARK))):
        return []
    from serialpack.pipeline.buffer_places import large_values

    return large_values(chain.serializer, data)


def _serialize(obj: Any, chain: str, verify: bool, more: _MoreOptions) -> _Serialized:
    """The object under the chain, or under the first of ``AUTO`` that holds it; proved."""
    if more and verify and more.get("default") is not None and more.get("object_hook") is None:
        raise UsageError(
            "default goes with object_hook: without it nothing proves that all attributes are kept",
            hint="verify=False goes without the proof",
        )
    if not isinstance(chain, str):
        raise TypeError(f"chain must be text such as 'msgpack+zstd', not {type(chain).__name__}")
    if chain.startswith("auto"):
        return _by_the_first(obj, chain, verify, more)
    try:
        return _by(chain, obj, verify, more)
    except NotTaken as failed:
        refusal = failed.refusal
    raise refusal()


def _by(
    chain: str,
    obj: Any,
    verify: bool,
    more: _MoreOptions,
    looked: bool | None = None,
) -> _Serialized:
    """The object under the chain, proved; NotTaken or ValueRefusedError where it does not hold it.
    ``looked``: see ``dumped``; of one that ``auto`` tries, whether one before has."""
    effort, options = DEFAULT_EFFORT, None
    default = object_hook = None
    if more:
        effort, options = more.get("effort", effort), more.get("options")
        default, object_hook = more.get("default"), more.get("object_hook")
    writer = writer_of(chain, effort, options)
    serializer = writer.serializer
    plain = obj if default is None else lowered(obj, default, serializer)
    pieces = dumped(serializer, plain, looked)
    if looked is not None and (found := _by_columns(chain, effort, plain, pieces)):
        writer, pieces = found
        serializer = writer.serializer
    if verify:
        pieces = proved(serializer, obj, plain, pieces, object_hook)
    return writer, pieces


def _by_the_first(obj: Any, chain: str, verify: bool, more: _MoreOptions) -> _Serialized:
    """As ``_by``, under the first of ``AUTO`` that holds it, with the rest of ``chain`` behind."""
    refused: Callable[[], ValueRefusedError] | None = None
    looked = False
    try:
        for name in _tried(chain, proved=verify):
            if refused and not more and name.startswith("json") and not _is_for_json(obj):
                continue
            try:
                found = _by(name, obj, verify, more, looked)
            except ValueRefusedError as error:
                refused = partial(lambda same: same, error)
                continue
            except NotTaken as failed:
                # Which value it is takes long to find, and where the next one holds it nobody asks.
                refused = failed.refusal
                looked |= failed.looked and not more  # else each is given values of its own
                continue
            if refused is not None and not found[0].serializer.safe and not _warned.is_set():
                _warn(refused())
            return found
        assert refused is not None
        raise refused()
    finally:
        refused = None  # by its traceback it holds this call, and that the object, in a cycle


def _by_columns(chain: str, effort: int, plain: Any, pieces: list[Buffer]) -> _Serialized | None:
    """``plain`` by ``objects``, where ``msgpack`` wrote ``pieces`` and many numbers are in it,
    which are arrays there; None else: what both write alike is portable."""
    if not chain.startswith(AUTO[0]) or sum(map(len, pieces)) < LONG or not may_have_columns(plain):
        return None
    from serialpack.serializers.objects.objects import ObjectsSerializer

    writer = writer_of(chain.replace(AUTO[0], "objects", 1), effort, None)
    assert isinstance(writer.serializer, ObjectsSerializer)
    with gc_paused():
        found = writer.serializer.dump_by_columns(plain)
    return (writer, found) if found is not None else None


def _is_for_json(obj: Any) -> bool:
    """Whether json may hold ``obj``, which msgpack does not, and no other is to be preferred."""
    first = None
    if type(obj) is list and obj:
        first = obj[0]
    elif type(obj) is dict:
        first = next(iter(obj.values()), None)
    # By identity: a class may have no hash, and any equality.
    fits = all(any(type(each) is kind for kind in _OF_JSON) for each in (obj, first))
    return fits and not may_have_columns(obj, _MANY)


@lru_cache(64)
def _tried(chain: str, *, proved: bool) -> list[str]:
    """The chains to try for ``chain``; unproved without json, which would make lists of tuples."""
    first, *rest = chain.split("+", 1)
    names = [name for name in AUTO if proved or name != "json"]
    return ["+".join((name, *rest)) for name in names] if first == "auto" else [chain]


_warned = Event()


def _warn(refused: ValueRefusedError) -> None:
    """A PickleWarning, once in a process; ``refused``: by the last that is safe, with the place of
    the first value that nothing else holds, and why."""
    _warned.set()
    said = (
        f"{refused.value_path}: {refused.message}; pickle can, and load needs trust=True for that"
    )
    warn_caller(said, PickleWarning)
