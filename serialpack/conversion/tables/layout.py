"""Which columns a table of text has, and how each is written."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from serialpack.conversion.tables.at import Lists
from serialpack.conversion.tables.columns import CellPlace
from serialpack.conversion.tables.shape import ValueShape, check_columns
from serialpack.conversion.tables.shaping import Shaping
from serialpack.conversion.types.kept import KeptTable
from serialpack.errors import RefusedError, ValueRefusedError
from serialpack.formats.csv.style import NEEDED, TableStyle
from serialpack.formats.shared.column_types import ColumnType
from serialpack.reports import RecordsInside
from serialpack.text import number_of, quoted
from serialpack.values.kinds import shown, value_step
from serialpack.values.missing import Missing

#: What may stand between the keys of a dotted column, in the order in which it is advised.
_SEPARATORS = (".", "/", "__", ":", "~", "|", "->", "\N{LOZENGE}")

_CONTAINERS: frozenset[type] = frozenset({dict, list})


class TableColumn(NamedTuple):
    """A column: the keys that lead to its values, its name, and whether it is JSON text.

    ``declared``: its type, in a database. ``quotes``: how its cells are quoted, in one of text.
    """

    path: tuple[str, ...]
    name: str
    is_json: bool = False
    declared: str = ""
    quotes: str = NEEDED

    @property
    def value_path(self) -> str:
        return "$" + "".join(map(value_step, self.path))


class Layout(NamedTuple):
    """The columns of a table, and the place of each key. ``rows``: what the records are.

    ``schema``: of a table with types, theirs, as Arrow writes it; ``union``: of one whose types are
    unions, that of the records. ``inside``: where else these may be; ``tables``: the lists of maps
    that the one record is made of alone. ``table``: the name of that of a database. ``kept``: how a
    table of text is to be written, or was, that becomes the table of a database. ``most_rows``: so
    many are written at a time; 0: as many as a block has. ``separator``: what stands between the
    keys in the name of a column. ``style``: how a table of text is written, but for what its
    columns say.
    """

    columns: tuple[TableColumn, ...]
    place: CellPlace
    rows: str = "maps"
    schema: bytes | None = None
    inside: RecordsInside = RecordsInside()
    tables: Lists = Lists()
    union: ColumnType | None = None
    table: str = ""
    kept: KeptTable | None = None
    most_rows: int = 0
    separator: str = "."
    style: TableStyle = TableStyle()

    @property
    def json_names(self) -> list[str]:
        return [column.name for column in self.columns if column.is_json]

    @property
    def flattens(self) -> bool:
        return any(len(column.path) > 1 for column in self.columns)


class OddKey(Exception):
    """A ``key`` that is no text, of maps that become columns."""

    def __init__(self, key: Any) -> None:
        super().__init__()
        self.key = key


def layout_of(shape: ValueShape, shaping: Shaping, rows: str) -> Layout:
    """The layout of a table of text for records of a shape; ValueRefusedError, OddKey."""
    columns: list[TableColumn] = []
    for odd in _odd_keys(shape, shaping):
        raise OddKey(odd)
    place = _placed(shape, (), columns, shaping)
    check_columns(len(columns))
    layout = Layout(tuple(columns), place, rows, separator=shaping.between)
    for column in layout.columns:
        try:
            column.name.encode()
        except UnicodeEncodeError:
            raise ValueRefusedError(
                f"a lone surrogate in the key {shown(column.name)}",
                kind="surrogates",
                hint="--to json or ndjson can",
            ) from None
    if layout.flattens and (fits := _other_separator(shape, shaping)) is not None:
        return layout_of(shape, shaping._replace(separator=fits), rows)
    return layout


def _placed(
    shape: ValueShape, path: tuple[str, ...], columns: list[TableColumn], shaping: Shaping
) -> CellPlace:
    number = -1
    splits = not path or splits_up(shape, shaping)
    if not splits or (type(None) in shape.types and path):
        number = len(columns)
        is_json = not splits and not _CONTAINERS.isdisjoint(shape.types)
        columns.append(TableColumn(path, shaping.between.join(path), is_json))
    if not splits:
        return CellPlace(number)
    below = {key: _placed(part, (*path, key), columns, shaping) for key, part in shape.keys.items()}
    return CellPlace(number, below)


def below_names(layout: Layout, names: Sequence[str]) -> Layout:
    """A layout of a table of text whose rows stand below these names, in their order: the cells of
    those that the records have not are empty. RefusedError for a column that is none of them."""
    own = {column.name: number for number, column in enumerate(layout.columns)}
    if tuple(own) == tuple(names):
        return layout
    if layout.rows != "maps":
        raise RefusedError("rows without names are not joined", hint="--to ndjson joins any")
    if others := list(own.keys() - set(names)):
        raise RefusedError(
            f"it has {number_of(len(others), 'column')} that the line of names above has not:"
            f" {shown(min(others))}",
            hint="--to ndjson joins any, and is converted then",
        )
    columns = [
        layout.columns[own[name]] if name in own else TableColumn((name,), name) for name in names
    ]
    places = {own[name]: number for number, name in enumerate(names) if name in own}
    place = _moved(layout.place, places)
    below = dict(place.below or {})
    for number, name in enumerate(names):
        if name not in own:  # beside a map of this key, its columns have other names
            below[name] = below.get(name, CellPlace())._replace(column=number)
    ordered = dict(sorted(below.items(), key=lambda item: _first_column(item[1])))
    return layout._replace(columns=tuple(columns), place=place._replace(below=ordered))


def _moved(place: CellPlace, numbers: dict[int, int]) -> CellPlace:
    """A place with other numbers of columns."""
    below = place.below and {key: _moved(part, numbers) for key, part in place.below.items()}
    return CellPlace(-1 if place.column < 0 else numbers[place.column], below)


def _first_column(place: CellPlace) -> int:
    """The first of the columns in a place."""
    below = map(_first_column, (place.below or {}).values())
    return min(number for number in (place.column, *below) if number >= 0)


def typed_layout_of(shape: ValueShape, shaping: Shaping, rows: str) -> Layout:
    """As ``layout_of``, of a table with types: a column for each key, maps too."""
    from serialpack.conversion.tables.arrow_types import arrow_type, json_type
    from serialpack.formats.tables.records import arrow

    if shaping.flatten:
        flat = layout_of(shape, shaping, rows)
        columns, place = list(flat.columns), flat.place
        shaping = shaping._replace(separator=flat.separator)
    else:
        for odd in shape.keys:
            if type(odd) is not str:
                raise OddKey(odd)
        columns = [TableColumn((key,), key) for key in shape.keys]
        place = CellPlace(-1, {key: CellPlace(n) for n, key in enumerate(shape.keys)})
    pa, fields = arrow(), []
    for number, column in enumerate(columns):
        kind = (
            None
            if shaping.flatten and column.is_json
            else arrow_type(shape_under(shape, column.path))
        )
        columns[number] = column._replace(is_json=kind is None)
        fields.append(pa.field(column.name, json_type() if kind is None else kind))
    schema = pa.schema(fields).serialize().to_pybytes()
    return Layout(tuple(columns), place, rows, schema, separator=shaping.between)


def styled(layout: Layout, style: TableStyle, names: Sequence[str]) -> Layout:
    """A layout of a table that is written as another was with columns of these names."""
    quotes = dict(zip(names, style.cells, strict=False))
    columns = [each._replace(quotes=quotes.get(each.name, NEEDED)) for each in layout.columns]
    return layout._replace(columns=tuple(columns), style=style)


def schema_of(layout: Layout) -> Any:
    """The schema of a layout with types."""
    from serialpack.formats.tables.records import arrow

    pa = arrow()
    assert layout.schema is not None
    return pa.ipc.read_schema(pa.py_buffer(layout.schema))


def text_columns(layout: Layout | None) -> set[str]:
    """The columns with types that have text all the same, such as times in several zones."""
    if layout is None or layout.schema is None:
        return set()
    return {field.name for field in schema_of(layout) if str(field.type) == "string"}


def with_kept(layout: Layout, kept: KeptTable) -> Layout:
    """A layout with types that has ``kept`` beside its columns, for who reads them again."""
    if layout.schema is None:  # a database's
        return layout._replace(kept=kept)
    from serialpack.formats.tables.table import KEPT

    schema = schema_of(layout).with_metadata({KEPT: kept.stored()})
    return layout._replace(schema=schema.serialize().to_pybytes())


def union_layout_of(shape: ValueShape, rows: str) -> Layout | None:
    """As ``layout_of``, of a format with unions; None where all records must be there for it."""
    from serialpack.conversion.tables.union_types import union_type

    found = union_type(shape) if rows == "maps" else None
    if found is None:
        return None
    columns = tuple(TableColumn((key,), key) for key in shape.keys)
    place = CellPlace(-1, {key: CellPlace(n) for n, key in enumerate(shape.keys)})
    return Layout(columns, place, rows, union=found)


def shape_under(shape: ValueShape, path: tuple[str, ...]) -> ValueShape:
    """The shape of the values to which the keys of ``path`` lead."""
    for key in path:
        shape = shape.keys[key]
    return shape


def _odd_keys(shape: ValueShape, shaping: Shaping, *, top: bool = True) -> Iterator[Any]:
    """The keys that are no text, of the maps that become columns."""
    if not top and not splits_up(shape, shaping):
        return
    for key, part in shape.keys.items():
        if type(key) is not str:
            yield key
        yield from _odd_keys(part, shaping, top=False)


def other_separator(layout: Layout) -> str:
    """A separator for who reads names that have that of the layout in them, and are no paths."""
    names = [column.name for column in layout.columns]
    if layout.flattens or not any(layout.separator in name for name in names):
        return layout.separator
    return _apart(names) or "\N{LOZENGE}"


def _apart(names: list[str]) -> str | None:
    """A separator that no name has, nor ends in the beginning of."""
    return next((s for s in _SEPARATORS if not any(runs_into(n, s) for n in names)), None)


def runs_into(key: str, separator: str) -> bool:
    """Whether a separator behind a key is found elsewhere: in the key, or across its end.

    ``a_`` and ``__`` are ``a___``, of which the first two are taken.
    """
    return f"{key}{separator}".find(separator) < len(key)


def splits_up(shape: ValueShape, shaping: Shaping) -> bool:
    """Whether the values in one place become a column for each of their keys."""
    if dict not in shape.types or shape.empty or shape.sparse:
        return False
    if not shape.types <= {dict, type(None), Missing}:
        return False
    null_apart = shaping.null is not None
    return null_apart or not (shape.hollow or type(None) in shape.types)


def _other_separator(shape: ValueShape, shaping: Shaping) -> str | None:
    """Another separator for dotted columns, where a key has that; None where none has.

    ValueRefusedError where the user named it, or no other is known.
    """
    keys = _keys_of(shape, shaping, top=True)
    odd = next((key for key in keys if runs_into(key, shaping.between)), None)
    if odd is None:
        return None
    fits = _apart(keys)
    if fits is not None and shaping.separator is None:
        return fits
    raise ValueRefusedError(
        f"the key {shown(odd)} is not told from the separator of dotted columns behind it",
        kind="nested",
        hint=f"--separator {quoted(fits)} keeps it apart" if fits else "--separator names another",
    )


def _keys_of(shape: ValueShape, shaping: Shaping, *, top: bool) -> list[str]:
    if not top and not splits_up(shape, shaping):
        return []
    below = [_keys_of(part, shaping, top=False) for part in shape.keys.values()]
    return [*shape.keys, *(key for keys in below for key in keys)]
