"""A block of records as rows of a table: what is the same for text, files with types, databases."""

from abc import ABC, abstractmethod
from array import array
from collections.abc import Collection, Iterator, Sequence
from decimal import Decimal
from functools import cached_property
from operator import is_
from typing import Any, ClassVar, NamedTuple

from serialpack.conversion.losses.literals import has_literals, without_literals
from serialpack.conversion.losses.losses import Losses
from serialpack.conversion.tables.carrier import Carrier
from serialpack.conversion.tables.cells import from_json, json_texts
from serialpack.conversion.tables.columns import gathered
from serialpack.conversion.tables.layout import Layout, TableColumn
from serialpack.depth.values import holds_itself
from serialpack.formats.json.values import is_json
from serialpack.formats.pieces.join import Piece
from serialpack.formats.shared.document import compared
from serialpack.text import number_of
from serialpack.values.kind_of import kind_of
from serialpack.values.kinds import Difference, Loss, shown, totals, value_step
from serialpack.values.missing import MISSING, Missing
from serialpack.values.quick_equality import quickly_same


class Written(NamedTuple):
    """What some records became: ``told``: what was carried, ``lost``: the first value that is not
    held, whose record counts from 0.
    """

    piece: Piece
    told: list[Loss]
    lost: Difference | None = None


class Table(ABC):
    """Writes blocks of records under one layout. Belongs to one worker."""

    def __init__(self, layout: Layout, *, verify: bool, lossy: tuple[tuple[str, ...], ...]) -> None:
        """``lossy``: the rules that may be applied, and those that the user named."""
        self._layout = layout
        self._verify = verify
        self._lossy = lossy

    #: What stands before the rows of a piece: the line of names, in text.
    _head = b""

    def tried(self, records: list[Any], rules: Collection[str]) -> Difference | None:
        """What would not be held of ``records`` if the user named ``rules``."""
        before, self._lossy = self._lossy, (tuple(rules), tuple(rules))
        try:
            return self.write(records, 0).lost
        finally:
            self._lossy = before

    def write(self, records: list[Any], first_record: int) -> Written:
        """The rows of ``records``; one that is not held is told, and nothing is raised for it."""
        layout = self._layout
        maps = list(as_maps(records, layout.rows))
        if not maps or not layout.columns:
            # A table without columns loses the rows of what maps there are.
            lost = Difference(0, "$", "a map without keys", "", "value") if maps else None
            return Written(Piece(b"", 0, self._head), [], lost)
        values, told = gathered(maps, layout.place, len(layout.columns), first_record)
        data, lost = self._rows(values, told, first_record)
        if layout.rows != "maps":
            became = "a row" if type(records[0]) is list else "a row of one cell"
            told.append(Loss("shapes", len(records), first_record, "$", shown(records[0]), became))
        return Written(Piece(data, len(records), self._head), totals(told), lost)

    #: Whether values are wanted as arrays of pyarrow's, which ``write_columns`` takes in any case.
    takes_arrays: ClassVar[bool] = False

    def write_columns(self, values: list[Any], count: int, first_record: int) -> Written:
        """As ``write``, of ``count`` records that stand column by column, in the order of the
        layout: as sequences, or arrays whose values are proved."""
        told: list[Loss] = []
        data, lost = self._rows_of_columns(values, told, count, first_record)
        return Written(Piece(data, count, self._head), totals(told), lost)

    def _rows_of_columns(
        self,
        values: list[Any],
        told: list[Loss],
        count: int,  # noqa: ARG002
        first_record: int,
    ) -> tuple[bytes, Difference | None]:
        """As ``_rows``, of ``count`` rows of columns as of ``write_columns``."""
        return self._rows(values, told, first_record)

    @abstractmethod
    def _rows(
        self, values: list[Sequence[Any]], told: list[Loss], first_record: int
    ) -> tuple[bytes, Difference | None]:
        """The rows that columns of values make, and the first value that they do not hold.

        What is carried is put into ``told``.
        """

    @cached_property
    def _json(self) -> Carrier:
        return Carrier("json", frozenset())

    def _as_json(
        self, column: TableColumn, values: Sequence[Any], first_record: int, told: list[Loss]
    ) -> tuple[list[Any], Difference | None]:
        """The values of a column of JSON text as such that JSON has, what is missing stays so; and
        what ``_odd`` finds."""
        losses = Losses(*self._lossy)
        filled = [None if value is MISSING else value for value in values]
        made = self._json.carried(filled, losses, first_record)
        odd = self._odd(column, made)
        told += [
            loss._replace(value_path=column.value_path + _within(loss.value_path))
            for loss in losses.report()
        ]
        kept = [v if was is not MISSING else was for was, v in zip(values, made, strict=True)]
        return kept, odd

    def _odd(self, column: TableColumn, values: Sequence[Any]) -> Difference | None:
        """The first value of a column of JSON text that JSON has not, where no proof finds it."""
        return None if self._verify else _not_json(column, values)


class TypedTable(Table):
    """One with null, and text for what its types do not hold."""

    def _plain(
        self, column: TableColumn, values: Sequence[Any], first_record: int, told: list[Loss]
    ) -> tuple[Sequence[Any], Difference | None]:
        """The values with null for what is missing, and such as JSON has where they become its
        text; and what ``_odd`` finds of those."""
        values = missing_as_null(column, values, first_record, told)
        return (
            self._as_json(column, values, first_record, told) if column.is_json else (values, None)
        )


def _within(path: str) -> str:
    """The steps of a path behind that to the record."""
    return path.removeprefix("$")


def _not_json(column: TableColumn, values: Sequence[Any]) -> Difference | None:
    """The first value that is none of JSON, of which its writer makes some text all the same."""
    if is_json([value for value in values if value is not MISSING]):
        return None
    for number, value in enumerate(values):
        if value is not MISSING and not is_json([value]):
            return lost_in(number, column.value_path, value)
    return None


def as_json_texts(
    column: TableColumn, values: Sequence[Any], first_record: int, told: list[Loss]
) -> list[str | None]:
    """JSON text for each value but null, which is told."""
    filled = [value for value in values if value is not None]
    if filled:
        first = next(n for n, value in enumerate(values) if value is not None)
        place = first_record + first, column.value_path
        told.append(Loss("mixed", len(filled), *place, shown(values[first]), "JSON text"))
    texts = iter(json_texts(filled))
    return [None if value is None else next(texts) for value in values]


def of_json_texts(texts: Sequence[str | None], was: Sequence[Any]) -> list[Any]:
    """What texts of JSON are read as: numbers with their text where there are some in ``was``."""
    found = [None if text is None else from_json(text) for text in texts]
    return found if has_literals([was]) else without_literals(found)


def missing_as_null(
    column: TableColumn, values: Sequence[Any], first_record: int, told: list[Loss]
) -> Sequence[Any]:
    """The values, null for each that is missing, which is told."""
    kinds = list(map(type, values))
    if Missing not in kinds:
        return values
    place = first_record + kinds.index(Missing), column.value_path
    told.append(Loss("missing", kinds.count(Missing), *place, "nothing", "null"))
    return [None if v is MISSING else v for v in values]


def as_maps(records: list[Any], rows: str) -> Iterator[dict[str, Any]]:
    """Each record as a map: of lists by the numbers of their items, of others by ``value``."""
    if rows == "maps":
        return iter(records)
    if rows == "values":
        return ({"value": record} for record in records)
    return ({f"column{n}": item for n, item in enumerate(record, 1)} for record in records)


def unlike(column: TableColumn, was: Sequence[Any], became: Sequence[Any]) -> Difference | None:
    """The first value of a column that is not the same again."""
    if same_column(was, became):
        return None
    for number, (before, after) in enumerate(zip(was, became, strict=False)):
        if not same_column([before], [after]):
            kind = "value" if before is MISSING else inner_kind(before)
            return Difference(number, column.value_path, shown(before), shown(after), kind)
    counts = number_of(len(was), "row"), str(len(became))
    return Difference(0, column.value_path, *counts, "value")


def same_column(was: Sequence[Any], became: Sequence[Any]) -> bool:
    """Whether two columns hold the same values: types, every bit of doubles, order of keys."""
    types = set(map(type, was))
    if types != set(map(type, became)) or len(was) != len(became):
        return False
    if len(types) > 1 and not all(map(is_, map(type, was), map(type, became))):
        return False
    if types & {dict, list}:
        plain = [None if v is MISSING else v for v in was]
        again = [None if v is MISSING else v for v in became]
        return quickly_same(plain, again, identity=False) or compared(plain, again) is None
    if float in types:
        return _bits(was, types) == _bits(became, types) and (
            types == {float} or _others(was) == _others(became)
        )
    if Decimal in types and _tuples(was) != _tuples(became):  # 1.5 is 1.50
        return False
    return list(was) == list(became)


def _tuples(values: Sequence[Any]) -> list[Any]:
    return [v.as_tuple() for v in values if type(v) is Decimal]


def _bits(values: Sequence[Any], types: set[type]) -> bytes:
    some = values if types == {float} else [v for v in values if type(v) is float]
    return array("d", some).tobytes()


def _others(values: Sequence[Any]) -> list[Any]:
    return [None if type(v) is float else v for v in values]


def inner_kind(value: Any) -> str:
    """The kind of a value; of a container that of the first odd one in it."""
    return lost_in(0, "$", value).kind


def lost_in(record: int, path: str, value: Any) -> Difference:
    """That ``value``, which stands at ``path``, is lost; of a container the first odd value in it,
    where it stands."""
    if holds_itself(value):
        return Difference(record, path, shown(value), "", "cycle")
    stack, met = [(path, value)], set[int]()
    while stack:
        at, part = stack.pop()
        if id(part) in met:
            continue
        met.add(id(part))
        if type(part) is dict:
            # Behind the values stand the keys, which have no place but the map's.
            inside = [(at + value_step(key), item) for key, item in part.items()]
            stack += [*inside, *((at, key) for key in part)][::-1]
        elif type(part) is list:
            stack += [(f"{at}[{number}]", item) for number, item in enumerate(part)][::-1]
        elif (kind := kind_of(part)) not in _COMMON:
            return Difference(record, at, shown(part), "", kind)
    kind = "depth" if type(value) in (dict, list) else kind_of(value)
    return Difference(record, path, shown(value), "", kind)


_COMMON = frozenset({"null", "boolean", "integer", "float", "integral-float", "text", "control"})
