"""What a serializer promises, declared as data: what it cannot hold, and what people choose by.

There are two kinds: of records, which are dumped and loaded, and of a source's bytes. The pipeline
proves each block by undoing it; a serializer need not check itself, but must never be trusted
without.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence, Set
from functools import cache, partial
from typing import TYPE_CHECKING, Any, ClassVar, cast

from serialpack.depth import HeldOften
from serialpack.errors import UsageError, ValueRefusedError, Ways
from serialpack.formats.base import Style, depth_loss
from serialpack.formats.shared.document import Unwritable
from serialpack.serializers.holders import Holders, holders
from serialpack.stages.stage import Buffer, Stage, most_values
from serialpack.values.kinds import (
    AS_BYTES,
    BEYOND_JSON,
    KINDS,
    Difference,
    bare,
    shown,
    unplaced,
)

if TYPE_CHECKING:
    from serialpack.formats.arrays.header import ArrayHeader

#: What libraries raise for a value that they cannot write or read; other errors become these.
FAILURES = (ValueError, TypeError, OverflowError, RecursionError, BufferError)


class ObjectOutline:
    """``value``: plain values, with words for arrays. ``beside``: what each buffer beside the
    message is, in order: the description of an array, or None. ``listed``: the numbers of those
    that stand for lists of Python's numbers."""

    def __init__(
        self, value: Any, beside: list[ArrayHeader | None], listed: Set[int] = frozenset()
    ) -> None:
        self.value = value
        self.beside = beside
        self.listed = listed


class Serializer(Stage, ABC):
    """Turns a block of a source into serialized bytes and back."""

    #: The format that its serialized blocks are in; None: the source's own.
    stored_format: ClassVar[str | None] = None
    traits = ("exact", "portable", "text", "safe", "compiled")
    #: Whether it always gives back the very bytes, of any source.
    exact: ClassVar[bool] = False
    #: Whether it holds the GIL while it works, so that worker processes pay.
    holds_gil: ClassVar[bool] = True
    #: What people choose by: whether other languages can read it, whether people can, whether it is
    #: safe to read what a stranger wrote, whether its library is compiled.
    portable: ClassVar[bool] = True
    text: ClassVar[bool] = False
    safe: ClassVar[bool] = True
    compiled: ClassVar[bool] = False

    #: Whether what it writes is compressed already: then its one parameter is the effort.
    compresses: ClassVar[bool] = False
    #: The parameters, as a chain spells them, with which ``bench`` compares it with others.
    levels: ClassVar[tuple[str, ...]] = ("",)

    #: Whether it takes options of the user: see ``settings``.
    takes_options: ClassVar[bool] = False

    @classmethod
    def most_values(cls, block_size: int) -> int:  # noqa: ARG003
        """About how many values a block of several records may have; 0: any number."""
        return 0

    @classmethod
    def settings(cls, options: Mapping[str, Any]) -> Style:
        """What is needed, beside the parameters, to read its bytes again; kept in the header.

        ``options``: the user's, by name. UsageError where they are not of this serializer.
        """
        if options:
            raise UsageError(f"only protobuf and avro take a {' and a '.join(options)}")
        return {}

    def configure(self, settings: Style) -> None:
        """Take over ``settings``, of a header or of this run, before any bytes.

        UnsupportedError where they ask for what this version lacks.
        """


class ByteSerializer(Serializer):
    """A serializer of the source's bytes, which always come back; it knows no records."""

    exact = True
    #: Whether it hands on the source's bytes as they are.
    passes: ClassVar[bool] = False

    @classmethod
    def suits(cls, kind: str) -> bool:  # noqa: ARG003
        """Whether it knows text of this kind (``Declaration.columns``), and not only bytes."""
        return True

    @abstractmethod
    def encode(self, data: Buffer, kind: str) -> Buffer:
        """The serialized bytes of a block; ``kind``: of its text, empty where it is not known."""

    def plain(self, data: Buffer) -> Buffer:
        """The serialized bytes of a block that it does not take apart.

        The pipeline asks for them where those of ``encode`` do not give back the very bytes.
        """
        return data

    @abstractmethod
    def decode(self, data: Buffer) -> Buffer:
        """The block's bytes again; ValueError for bytes that this serializer never wrote."""

    def parts(self, data: Buffer) -> Sequence[Buffer]:
        """``data``, which ``encode`` gave, in pieces that are worth reading one by one.

        They become parts of a block that no filter or codec touches, each with a checksum.
        """
        return (data,)


class RecordSerializer(Serializer):
    """A serializer of records, which are values of Python; it knows no text of a source."""

    stored_format: ClassVar[str]
    #: Whether an object that stands in two places, or inside itself, is one object again.
    identity: ClassVar[bool] = False
    #: Whether C code writes, which makes no containers for the garbage collector to look at.
    written_in_c: ClassVar[bool] = False
    #: Whether ``dump_object`` gives, for a value without buffers, a pickle of protocol 5.
    pickles: bool = False
    #: Whether it holds objects of classes by their attributes, where the class says no more.
    holds_objects: ClassVar[bool] = False
    #: Whether it writes msgspec's structs as maps.
    holds_structs: ClassVar[bool] = False
    #: The format that it writes, where that is a dialect of the stored one.
    dialect: str = ""
    #: Whether it holds tables: ``dump`` of the Python API takes a list of records then.
    tabular: ClassVar[bool] = False

    @classmethod
    def most_values(cls, block_size: int) -> int:
        return most_values(block_size)

    @abstractmethod
    def _dump(self, records: list[Any]) -> bytes:
        """The records, one after another, so that ``_load`` gives as many again.

        ValueError, TypeError, OverflowError or RecursionError (subclasses too) for a value that
        the library will not take. What it takes and would change, the proof finds. None of the
        records is nested more deeply than ``MAX_DEPTH``.
        """

    @abstractmethod
    def _load(self, data: Buffer) -> list[Any]:
        """The records again; ValueError (or a subclass) for bytes that hold none.

        Allocates nothing on the word of a length in ``data``, and never crashes: a library that
        would is guarded. ``_check_depth`` has looked at ``data``.
        """

    def _check_depth(self, data: Buffer) -> None:
        """TooDeep for bytes that are nested too deeply for a library which calls itself for each
        level. Nothing to do where ``_load`` counts levels, or its library does."""

    def check_values(self, records: list[Any]) -> None:
        """TooDeep where a record is nested too deeply."""
        _depth_check(self.identity)(records)

    def dump(self, records: list[Any]) -> bytes:
        """The records as ``_dump`` writes them; TooDeep where one is nested too deeply."""
        self.check_values(records)
        return self._dump(records)

    def dump_parsed(self, records: list[Any]) -> bytes:
        """As ``dump``, of records whose depth the format that they were read from has looked at."""
        return self._dump(records)

    def load(self, data: Buffer) -> list[Any]:
        """The records as ``_load`` reads them; TooDeep where one is nested too deeply."""
        self._check_depth(data)
        return self._load(data)

    #: Whether ``dump_object`` raises HeldOften for an object that is far larger once it is written.
    #: To look for that takes half as long as a quick library takes to write a small one.
    checks_places: ClassVar[bool] = True

    def dump_object(self, records: list[Any]) -> list[Buffer]:
        """As ``dump``, of one object of the Python API; only ``load_object`` reads it.

        In pieces, of which some may be the object's own memory.
        """
        _object_check(self.identity)(records)
        return self.dump_looked_at(records)

    def dump_looked_at(self, records: list[Any]) -> list[Buffer]:
        """As ``dump_object``, of an object of which somebody looked how large it becomes."""
        return [self._dump(records)]

    def dump_otherwise(self, records: list[Any], *, whole: bool) -> list[Buffer] | None:  # noqa: ARG002
        """As ``dump``, or for a ``whole`` object as ``dump_object``, in a slower way that tells
        more values apart, for what came back as other values; None where there is no such way.
        """
        return None

    #: The format of the messages of its objects, where long bytes can be found in these.
    messages: ClassVar[str | None] = None

    def outline(self, message: Buffer) -> ObjectOutline | None:  # noqa: ARG002
        """The outline of a message of an object, without its arrays; None where there is none."""
        return None

    def item_of_arrays(self, message: Buffer) -> int:  # noqa: ARG002
        """The bytes of an item of the arrays that are most of ``message``; 0 where there are none,
        or where it does not tell that at a glance."""
        return 0

    def reload_object(self, pieces: list[Buffer]) -> list[Any]:
        """What ``load_object`` loads from the pieces of ``dump_object``, for whoever only looks at
        it: it may lie in the memory of what was dumped, whose depth was looked at."""
        return self.load_object(pieces)

    def certainly_restores(self, pieces: list[Buffer]) -> bool:  # noqa: ARG002
        """Whether ``pieces`` of ``dump_object`` are certainly read as what it was given, where
        they alone quickly tell that. False says nothing."""
        return False

    def load_object(self, pieces: list[Buffer]) -> list[Any]:
        """What ``dump_object`` wrote, cut anywhere. Writable memory may become the object's own."""
        return self.load(in_one(pieces))

    def count(self, data: Buffer) -> int | None:  # noqa: ARG002
        """How many records a source in its own format has, where its settings say what a record is;
        else None, and the format counts them. Malformed where the source is not in that format.
        """
        return None

    def fit(self, records: list[Any]) -> None:
        """Raise one of ``FAILURES`` where a quick look tells that ``dump`` will fail.

        There is at least one record.
        """

    def load_unchecked(self, data: Buffer) -> list[Any]:
        """As ``load``, but other bytes may pass that have the same values: the caller compares."""
        return self.load(data)

    def load_json(self, data: Buffer) -> list[Any]:
        """As ``load``, of records that must be values of JSON; ValueError where they are not."""
        from serialpack.formats.json.values import check_json

        records = self.load(data)
        if not self.cannot >= BEYOND_JSON:
            check_json(records)
        return records

    def refuse(
        self,
        lost: Difference,
        first_record: int | None = 0,
        hint: str | Ways | None = None,
        *,
        named: str = "",
    ) -> ValueRefusedError:
        """The error for a value that is lost.

        ``first_record``: how many records of the file are before those that ``lost`` counts; None
        for an object, which has no records. ``hint``: which serializers can hold it, if that is
        known better than from the declarations. ``named``: who cannot hold it, where that is
        not this serializer by its own name.
        """
        # A view is of the kind of arrays, and what stands in many places is held by who holds
        # cycles: whose words do not fit them.
        unlike = lost.instead == AS_BYTES or (lost.kind == "cycle" and lost.because)
        words = "" if unlike else f"{KINDS[lost.kind]}: "
        became = f" became {lost.became}" if lost.became else ""
        because = f" ({lost.because})" if lost.because else ""
        return ValueRefusedError(
            f"{named or self.name} cannot hold {words}{lost.was}{became}{because}",
            record=None if first_record is None else first_record + lost.record,
            value_path=lost.value_path,
            kind=lost.kind,
            hint=hint or str(self.way_out(lost, raw=first_record is not None)),
        )

    def way_out(self, lost: Difference, *, raw: bool) -> str | Holders:
        """What to do with a value that is lost, or who can hold it; ``raw``: see ``who_can``."""
        if lost.instead is None:
            return self.who_can(lost.kind, raw=raw)
        words, kind = lost.instead
        if kind in self.cannot:
            return f"{self.who_can(kind, raw=False)} hold {words}"
        return f"{words} can be held"

    def who_can(self, kind: str, *, raw: bool) -> Holders:
        """Which others can hold what this one refused; ``raw``: raw is one of them."""
        return holders(kind, raw=raw, but=self.name)

    def blame(self, records: list[Any], error: Exception) -> Difference:
        """The value that the library does not take, or does not read again.

        It is found by trying ever smaller parts. ``error`` is what was raised for all records.
        """
        if isinstance(error, Unwritable):
            return error.difference
        if isinstance(error, HeldOften):  # to try it would take as long as it says
            return Difference(0, "$", shown(records[0]), "", "cycle", str(error))
        for number, record in enumerate(records):
            found = self.failure([record])
            if found is not None:
                return self.blame_one(record, found)._replace(record=number)
        return unplaced(error)

    def blame_one(self, record: Any, error: Exception) -> Difference:
        """The part of a record that is not held; ``error`` was raised for this record alone."""
        from serialpack.depth.values import holds_itself
        from serialpack.values.kind_of import lost_value

        if isinstance(error, RecursionError):  # the depth is to blame, and no single part
            if not self.identity and holds_itself(record):
                return Difference(0, "$", type(record).__name__, "", "cycle")
            return depth_loss()
        if not isinstance(record, dict) and "bare" in self.cannot:
            return bare(record)
        path, value, is_key = self._descend(record)
        if type(value) in (dict, list):  # no part of it is refused on its own
            return Difference(0, path, shown(value), "", "value", str(error))
        return lost_value(path, value, is_key=is_key)

    def failure(self, records: list[Any], *, reads: bool = True) -> Exception | None:
        """The error of writing the records, or reading them again; None where all goes well."""
        try:
            data = self.dump(records)
            if reads:
                self.load(data)
        except FAILURES as error:
            return error
        return None

    def _descend(self, record: Any) -> tuple[str, Any, bool]:
        from serialpack.serializers.refused import innermost

        # What is not written is found without reading, which may take ten times as long.
        reads = self.failure([record], reads=False) is None
        return innermost(record, partial(self.failure, reads=reads), objects=self.holds_objects)


def in_one(pieces: list[Buffer]) -> Buffer:
    """``pieces`` one after another."""
    return pieces[0] if len(pieces) == 1 else b"".join(cast("list[bytes]", pieces))


# Kept: to import a name again takes a quarter of the look at a small message.
@cache
def _depth_check(identity: bool) -> Callable[[list[Any]], None]:
    from serialpack.depth.values import check_graph, check_values

    return check_graph if identity else check_values


@cache
def _object_check(identity: bool) -> Callable[[list[Any]], None]:
    from serialpack.depth.places import check_places
    from serialpack.depth.values import check_graph

    return check_graph if identity else check_places


def check_finite(values: Any) -> None:
    """ValueError where a NaN or an infinity stands in ``values``: JSON has no word for them."""
    stack: list[Any] = [values]
    while stack:
        value = stack.pop()
        if isinstance(value, list):
            stack.extend(value)
        elif isinstance(value, dict):
            stack.extend(value.values())
        elif isinstance(value, float) and value - value != 0:
            raise ValueError(f"{value} is not JSON")
