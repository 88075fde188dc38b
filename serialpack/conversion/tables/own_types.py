"""The types that the columns of a source have, where the target is a table with types too: they
stay where it has them, and what it has not is told of."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import starmap
from typing import Any

from serialpack.conversion.losses.losses import Losses
from serialpack.conversion.plan import ConversionPlan
from serialpack.conversion.tables.layout import Layout, schema_of, shape_under
from serialpack.conversion.tables.shape import ValueShape
from serialpack.formats import FORMATS
from serialpack.formats.tables import records as tables
from serialpack.formats.tables.folded import is_folded
from serialpack.formats.tables.table import TableFormat
from serialpack.serializers.base import FAILURES
from serialpack.values.kinds import NEAREST, Loss, value_step
from serialpack.values.missing import Missing


def held_types(fmt: TableFormat, schema: Any) -> list[Any]:
    """Of each field the type that it has in a file of ``fmt``; None where it can have none."""
    return [_held_type(fmt, field) for field in schema]


def _held_type(fmt: TableFormat, field: Any) -> Any:
    pa = tables.arrow()
    try:
        with tables.failures_told():
            empty = pa.schema([field]).empty_table()
            return fmt.read_schema(fmt.write_table(empty, stored=False)).field(0).type
    except FAILURES:
        return None


def nearest_told(schema: Any, held: Iterable[Any], plan: ConversionPlan) -> list[Loss]:
    """What is told of columns that have another type than in ``schema``; ``held``: theirs.
    ValueRefusedError where the plan says that none may have."""
    found = [
        Loss(NEAREST, 1, 0, "$" + value_step(field.name), f"{field.type}"[:60], f"{kind}"[:60])
        for field, kind in zip(schema, held, strict=True)
        if not _is_named(field.type, kind)
    ]
    losses = Losses(plan.lossy)
    losses.merge(found)
    losses.check_carried(plan.target)
    return losses.report()


def _is_named(was: Any, became: Any) -> bool:
    """Whether two types are the same, but for what the field in a list is called."""
    if was == became or was.num_fields != became.num_fields or was.id != became.id:
        return bool(was == became)
    parts = [(was.field(n).type, became.field(n).type) for n in range(was.num_fields)]
    return bool(parts) and all(starmap(_is_named, parts))


def with_own_types(
    layout: Layout, shape: ValueShape, schema: Any, plan: ConversionPlan
) -> tuple[Layout, list[Loss]]:
    """A layout whose columns have the types of ``schema``, the source's, where values of this
    ``shape`` have these; and what is told of the others. ValueRefusedError where that may not be.
    """
    pa, fmt = tables.arrow(), FORMATS.get(plan.target)
    assert isinstance(fmt, TableFormat)
    fields, owned, held = [*schema_of(layout)], [], []
    for number, column in enumerate(layout.columns):
        own = _field_at(schema, column.path)
        if own is None or column.is_json or not _fits(own.type, shape_under(shape, column.path)):
            continue
        is_words = pa.types.is_dictionary(own.type) and not fmt.one_dictionary
        plain = own.type if is_words and not is_folded(own.type) else tables.without_words(own.type)
        kind = _held_type(fmt, own.with_type(plain))
        if kind is not None:
            fields[number] = own.with_type(plain).with_name(column.name)
            owned.append(own)
            held.append(kind)
    metadata = None if layout.flattens else schema.metadata
    new = pa.schema(fields, metadata).serialize().to_pybytes()
    return layout._replace(schema=new), nearest_told(owned, held, plan)


def _field_at(schema: Any, path: tuple[str, ...]) -> Any:
    """The field to which names lead, through structs; None where there is none, or are several."""
    found, fields = None, [*schema]
    for name in path:
        named = [field for field in fields if field.name == name]
        if len(named) != 1:
            return None
        (found,) = named
        is_struct = tables.arrow().types.is_struct(found.type)
        fields = [found.type.field(n) for n in range(found.type.num_fields)] if is_struct else []
    return found


def _fits(kind: Any, shape: ValueShape) -> bool:
    """Whether values of a shape may be those of a column of ``kind``, as Python reads it."""
    is_a, types = tables.arrow().types, shape.types - {type(None), Missing}
    if shape.crowded:
        return False
    if not types:
        return True
    if is_a.is_struct(kind):
        parts = {field.name: field.type for field in kind}
        keys = shape.keys
        return (
            types == {dict}
            and keys.keys() <= parts.keys()
            and all(_fits(parts[key], part) for key, part in keys.items())
        )
    if is_a.is_map(kind):
        return types == {dict} and all(_fits(kind.item_type, s) for s in shape.keys.values())
    if kind.num_fields == 1 and hasattr(kind, "value_type"):
        return types == {list} and (shape.items is None or _fits(kind.value_type, shape.items))
    if types & {dict, list}:
        return False
    return (types == {str}) == _is_text(kind)


def _is_text(kind: Any) -> bool:
    """Whether values of a type are text in Python."""
    pa = tables.arrow()
    if isinstance(kind, pa.BaseExtensionType):
        return _is_text(kind.storage_type)
    if pa.types.is_dictionary(kind):
        return _is_text(kind.value_type)
    texts = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return any(is_text(kind) for is_text in texts)
