"""One object through a serializer and back, whole: written, read, and proved to be the same."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from serialpack.collector import FEW, gc_paused
from serialpack.container.frames import checksum
from serialpack.depth import HeldOften, TooDeep
from serialpack.depth.places import check_places
from serialpack.errors import DroppedWarning, UsageError, ValueRefusedError
from serialpack.formats.base import depth_loss
from serialpack.serializers.base import FAILURES, RecordSerializer, Serializer
from serialpack.serializers.holders import Holders
from serialpack.stages.stage import Buffer, is_installed
from serialpack.values.equality import difference
from serialpack.values.kinds import KINDS, Difference, shown
from serialpack.values.quick_equality import plainly_same
from serialpack.warned import warn_caller

#: The most bytes of two values that may be compared by their bytes, which takes them once more.
_FEW = 64 << 10

#: What pickle leaves out of exceptions.
_OF_EXCEPTIONS = (".__traceback__", ".__cause__", ".__context__", ".__suppress_context__")

Default = Callable[[Any], Any]
ObjectHook = Callable[[dict[Any, Any]], Any]


def of_values(serializer: Serializer) -> RecordSerializer:
    """``serializer``, if it is one of values, not of bytes; else UsageError."""
    if not isinstance(serializer, RecordSerializer):
        raise UsageError(f"{serializer.name} holds bytes, not objects", hint="see: pack")
    return serializer


class NotTaken(Exception):
    """A library does not take a value; ``refusal()`` finds which one. ``looked``: whether it was
    looked at how large the value becomes, and may be."""

    def __init__(self, refusal: Callable[[], ValueRefusedError], *, looked: bool = False) -> None:
        super().__init__()
        self.refusal = refusal
        self.looked = looked


def serialized(serializer: RecordSerializer, obj: Any) -> list[Buffer]:
    """What the serializer writes, in pieces; ValueRefusedError for what its library refuses."""
    try:
        return dumped(serializer, obj)
    except NotTaken as failed:
        raise failed.refusal() from None


def dumped(serializer: RecordSerializer, obj: Any, looked: bool | None = None) -> list[Buffer]:
    """As ``serialized``, but NotTaken in place of the refusal, which takes time to find.
    ``looked``: whether another has looked how large it becomes, where that is to be looked at also
    for a serializer that does not; None where it is left to this one."""
    records = _records(serializer, obj) if serializer.tabular else [obj]
    try:
        if looked is not None:
            if looked and serializer.checks_places and not serializer.identity:
                with gc_paused():
                    return serializer.dump_looked_at(records)
            if not looked and not serializer.checks_places:
                check_places(records)
                looked = True
        if serializer.compiled or serializer.written_in_c:
            return serializer.dump_object(records)
        with gc_paused():
            return serializer.dump_object(records)
    except FAILURES as error:
        # No name for what holds the error, which holds this call: until the collector came.
        raise NotTaken(partial(_refusal, serializer, records, error), looked=bool(looked)) from None


def _refusal(
    serializer: RecordSerializer, records: list[Any], error: Exception
) -> ValueRefusedError:
    try:
        lost = serializer.blame(records, error)
    except FAILURES:  # of a class, which is asked what it is
        lost = Difference(0, "$", shown(records[0]), "", "object", str(error))
    if serializer.tabular:
        lost = lost._replace(value_path=f"$[{lost.record}]{lost.value_path[1:]}")
    # Others that have references are text, and to try them takes long.
    hint = "pickle can, which writes each once" if isinstance(error, HeldOften) else None
    return _refused(serializer, records if serializer.tabular else records[0], lost, hint)


def _refused(
    serializer: RecordSerializer, obj: Any, lost: Difference, hint: str | None = None
) -> ValueRefusedError:
    """The refusal of ``obj``, of which ``lost`` is not held; ``hint``, or one that names who was
    tried."""
    way = hint or serializer.way_out(lost, raw=False)
    if isinstance(way, Holders):
        way = _tried(way, serializer.name, obj)
    return serializer.refuse(lost, None, str(way))


#: Serializers that hold some objects that no other holds.
_HOLD_SOME = ("pickle", "cloudpickle")

#: Of an object that takes so many bytes, one holder is named: each takes as long as dumping it.
_LARGE = 1 << 20


def _tried(holders: Holders, but: str, obj: Any) -> Holders:
    """Those of ``holders``, or else of the last ways out, that hold all of ``obj``, which ``but``
    does not: what holds a kind of value may have none for what it stands in."""
    held: list[str] = []
    rest = [name for name in _HOLD_SOME if name not in (but, *holders.names) and is_installed(name)]
    for name in (*holders.names, *rest) if holders.names else ():
        if held and name in rest:
            break
        size = _size_under(name, obj)
        held += [] if size is None else [name]
        if held and (size or 0) > _LARGE:
            break
    return Holders(tuple(held))


def _size_under(name: str, obj: Any) -> int | None:
    """How many bytes ``obj`` takes under the serializer ``name``; None where it is not held."""
    from serialpack.serializers import SERIALIZERS

    other = of_values(SERIALIZERS.cls(name)(name))
    try:
        pieces = dumped(other, obj)
        again = deserialized(other, pieces)
        lost = difference(obj, again, identity=other.identity, left_out=[])
    except (NotTaken, ValueRefusedError, *FAILURES):
        return None
    return sum(map(len, pieces)) if lost is None else None


def _records(serializer: RecordSerializer, obj: Any) -> list[Any]:
    if not serializer.tabular:
        return [obj]
    if type(obj) is not list:
        raise ValueRefusedError(
            f"{serializer.name} cannot hold {KINDS['bare']}: {shown(obj)}",
            kind="bare",
            hint="give it a list of maps",
        )
    return obj


def deserialized(serializer: RecordSerializer, pieces: list[Buffer]) -> Any:
    """The object that ``serialized`` wrote, cut anywhere. One of ``FAILURES`` where it is none."""
    records = serializer.load_object(pieces)
    return (
        records[0]
        if len(records) == 1 and not serializer.tabular
        else _the_one(serializer, records)
    )


def _the_one(serializer: RecordSerializer, records: list[Any]) -> Any:
    if serializer.tabular:
        return records
    if len(records) != 1:
        raise ValueError(f"{len(records)} records instead of one object")
    return records[0]


def lowered(obj: Any, default: Default, serializer: RecordSerializer) -> Any:
    """``obj`` with what ``default`` makes of all that the serializer has no words for."""
    from serialpack.serializers.hooks import OWN, lower

    try:
        return lower(obj, default, OWN | (serializer.cannot - {"value"}))
    except TooDeep:
        raise serializer.refuse(depth_loss(), None) from None
    except ValueError as error:
        raise ValueRefusedError(
            f"{serializer.name} cannot hold it: {error}", kind="cycle"
        ) from None


def hooked(obj: Any, object_hook: ObjectHook | None) -> Any:
    """``obj`` with what the hook makes of its maps, innermost first."""
    if object_hook is None:
        return obj
    from serialpack.serializers.hooks import lift

    return lift(obj, object_hook)


def proved(
    serializer: RecordSerializer,
    obj: Any,
    plain: Any,
    pieces: list[Buffer],
    object_hook: ObjectHook | None,
) -> list[Buffer]:
    """``pieces``, or what the serializer writes in its other way: which passes the proof first.
    NotTaken where neither gives back the very same object."""
    try:
        _check(serializer, obj, plain, pieces, object_hook)
    except NotTaken:
        other = serializer.dump_otherwise([plain], whole=True)
        if other is None:
            raise
        _check(serializer, obj, plain, other, object_hook)
        return other
    return pieces


def prove(
    serializer: RecordSerializer,
    obj: Any,
    plain: Any,
    pieces: list[Buffer],
    object_hook: ObjectHook | None,
) -> None:
    """ValueRefusedError where ``pieces`` do not give back the very same object.

    ``plain``: what was serialized in its place.
    """
    try:
        _check(serializer, obj, plain, pieces, object_hook)
    except NotTaken as failed:
        raise failed.refusal() from None


def _check(
    serializer: RecordSerializer,
    obj: Any,
    plain: Any,
    pieces: list[Buffer],
    object_hook: ObjectHook | None,
) -> None:
    """As ``prove``, but NotTaken in place of the refusal."""
    # What is loaded may lie in a bytearray, which its class may change.
    data = pieces[0]
    check = checksum(data) if isinstance(data, bytearray) else None
    # The user's hook gets a copy, for it may do with that what it likes.
    alone = object_hook is not None and len(pieces) > 1
    given: list[Buffer] = [bytearray().join(pieces)] if alone else pieces
    size = sum(map(len, pieces)) if len(pieces) > 1 else len(data)
    few = size <= _FEW and object_hook is None
    if few and serializer.certainly_restores(pieces):
        return
    try:
        if size < FEW:
            again = _the_one(serializer, serializer.reload_object(given))
        else:
            with gc_paused():
                again = _the_one(serializer, serializer.reload_object(given))
    except FAILURES as error:
        records = _records(serializer, plain)
        raise NotTaken(partial(_refusal, serializer, records, error)) from None
    pickled = data if serializer.pickles and type(data) is bytes else None
    if few and plainly_same(obj, again, identity=serializer.identity, size=size, pickled=pickled):
        return
    again = hooked(again, object_hook)
    dropped: list[Difference] = []
    try:
        with gc_paused():
            lost = difference(obj, again, identity=serializer.identity)
            if lost is not None and not serializer.safe and serializer.holds_objects:
                # Or what is not left out is to blame.
                rest = difference(obj, again, identity=serializer.identity, left_out=dropped)
                dropped, lost = ([], rest) if rest is not None else (dropped or [lost], None)
    except FAILURES as error:  # of a class, which is asked whether it is another's
        because = f"it cannot be compared: {error}"
        lost = Difference(0, "$", shown(obj), "", "object", because=because)
    if lost is None and check is not None and checksum(data) != check:
        was = f"{shown(obj)}, which changes what it is loaded from"
        lost = Difference(0, "$", was, "", "object")
    if lost is not None:
        raise NotTaken(partial(_refused, serializer, plain, lost, _hint(serializer, lost)))
    if dropped:
        warn_caller(_told_dropped(dropped), DroppedWarning)


#: The most attributes that are named of those that classes leave out.
_NAMED = 5


def _told_dropped(dropped: list[Difference]) -> str:
    told = [f"{each.value_path}: {each.was} became {each.became}" for each in dropped[:_NAMED]]
    told += [f"{len(dropped) - _NAMED} more"] if len(dropped) > _NAMED else []
    if len(told) == 1:
        return f"{told[0]}, which its class leaves out where it is pickled"
    return f"{'; '.join(told)}, which classes leave out where objects are pickled"


def _hint(serializer: RecordSerializer, lost: Difference) -> str | None:
    if serializer.safe or not serializer.holds_objects or lost.instead is not None:
        return None
    if lost.value_path.endswith(_OF_EXCEPTIONS):
        return (
            "objects hold exceptions without tracebacks: error.with_traceback(None), and so each"
            " __cause__ and __context__"
        )
    # Its class tells pickle less than there is: who wants it so may have it.
    return "--no-verify takes what its class tells pickle"
