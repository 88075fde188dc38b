"""Frames, series, schemas and types of polars as extensions of MessagePack, and back.

``man/spk.5``, Objects of Python. Frames and series are tables of Arrow over their own memory; a
schema is a table without rows, a type the only column of one. Integers of 128 bits, which Arrow
has not, are two columns. A nested type is stored as its inner
types, which may be classes: Arrow cannot tell ``List(Int8)`` from ``List(Int8())``.
"""

from __future__ import annotations

from typing import Any

from serialpack.errors import UnsupportedError
from serialpack.imported import imported
from serialpack.serializers.objects.of_arrow import is_table

OF_POLARS = 32


def is_of_polars(value: Any) -> bool:
    """Whether ``value`` is a frame or a series of polars."""
    polars = imported("polars")
    return polars is not None and type(value) in (polars.DataFrame, polars.Series)


def parts_of_polars(value: Any) -> tuple[int, list[Any]] | None:
    """The extension of an object of polars; None for others, TypeError where it is not held."""
    polars = imported("polars")
    if polars is None:
        return None
    if isinstance(value, type):
        named = issubclass(value, polars.DataType) and _class(value.__name__) is value
        return (OF_POLARS, ["class", value.__name__]) if named else None
    if (nested := _parts_of_nested(value)) is not None:
        return OF_POLARS, nested
    if (wide := _parts_of_wide(value)) is not None:
        return OF_POLARS, wide
    if is_of_polars(value):
        word, held = "frame" if hasattr(value, "columns") else "series", value
    elif type(value) is polars.Schema:
        word, held = "schema", polars.DataFrame(schema=value)
    elif isinstance(value, polars.DataType):
        word, held = "type", polars.DataFrame(schema={"": value})
    else:
        return None
    try:
        return OF_POLARS, [word, table_of_polars(held)]
    except Exception as error:  # whatever the libraries say of types that only polars has
        raise TypeError(f"{type(value).__name__} of polars ({error})") from None


def _parts_of_nested(value: Any) -> list[Any] | None:
    """The parts of a nested type, a field, or a schema with such a type; None for all else."""
    import polars as pl

    kind = type(value)
    if kind is pl.List:
        return ["list", value.inner]
    if kind is pl.Array:
        return ["array", value.inner, value.size]
    if kind is pl.Struct:
        return ["struct", *value.fields]
    if kind is pl.Field:
        return ["field", value.name, value.dtype]
    if kind is pl.Schema and any(
        type(each) in (pl.List, pl.Array, pl.Struct) for each in value.values()
    ):
        return ["fields", *(pl.Field(*pair) for pair in value.items())]
    return None


def _parts_of_wide(value: Any) -> list[Any] | None:
    """The parts of a series of integers of 128 bits, which Arrow has not, of a frame with such, or
    of their type; None for all else."""
    import polars as pl

    if type(value) is pl.DataFrame:
        wide = any(type(each) in _wide() for each in value.dtypes)
        return ["columns", *value.get_columns()] if wide else None
    kind = value.dtype if type(value) is pl.Series else value
    halves = _wide().get(type(kind))
    if halves is None:
        return None
    if kind is value:
        return ["wide type", type(kind).__name__]
    whole = pl.Series([1 << 64], dtype=kind)
    high = value // whole
    low = (value - high * whole).cast(pl.UInt64)
    table = table_of_polars(pl.DataFrame({"high": high.cast(halves), "low": low}))
    return ["wide", value.name, type(kind).__name__, table]


def _wide() -> dict[type, Any]:
    """The types of integers of 128 bits, each with that of its upper half."""
    import polars as pl

    halves = {"Int128": pl.Int64, "UInt128": pl.UInt64}
    return {_class(name): half for name, half in halves.items() if _class(name) is not None}


def _wide_back(word: str, parts: tuple[Any, ...]) -> Any:
    """What ``_parts_of_wide`` took apart; None for another word, ValueError for wrong parts."""
    import polars as pl

    if word == "columns":
        if {*map(type, parts)} - {pl.Series} or len({len(each) for each in parts}) > 1:
            raise ValueError("columns of polars that are none of one frame")
        return pl.DataFrame(parts)
    if word == "wide type":
        (name,) = parts
        return _wide_type(name)()
    if word != "wide":
        return None
    label, name, table = parts
    kind = _wide_type(name)
    halves = pl.DataFrame(table) if is_table(table) else pl.DataFrame()
    if type(label) is not str or halves.schema != {"high": _wide()[kind], "low": pl.UInt64}:
        raise ValueError("no halves of integers of 128 bits")
    whole = pl.Series([1 << 64], dtype=kind)
    return (halves["high"].cast(kind) * whole + halves["low"].cast(kind)).alias(label)


def _wide_type(name: Any) -> Any:
    found = _class(name) if type(name) is str else None
    if found not in _wide():
        raise ValueError("polars has no such type")
    return found


def _nested_back(word: str, parts: tuple[Any, ...]) -> Any:
    """What ``_parts_of_nested`` took apart; None for another word, ValueError for wrong parts."""
    import polars as pl

    def is_type(value: Any) -> bool:
        return isinstance(value, pl.DataType) or (
            isinstance(value, type) and issubclass(value, pl.DataType)
        )

    if word in ("struct", "fields"):
        if {*map(type, parts)} - {pl.Field}:
            raise ValueError("fields of polars that are none")
        return pl.Struct(parts) if word == "struct" else pl.Schema((f.name, f.dtype) for f in parts)
    if word == "field":
        name, inner = parts
        if type(name) is not str or not is_type(inner):
            raise ValueError("a field of polars without its name and type")
        return pl.Field(name, inner)
    if word not in ("list", "array"):
        return None
    inner, *size = parts
    if not is_type(inner) or any(type(n) is not int or n < 0 for n in size):
        raise ValueError("a type of polars without what is in it")
    return pl.List(inner) if word == "list" else pl.Array(inner, *size)


def _class(name: str) -> Any:
    """The class of types of that name; None where there is none."""
    import polars

    found = getattr(polars, name, None)
    return found if isinstance(found, type) and issubclass(found, polars.DataType) else None


def table_of_polars(value: Any) -> Any:
    """The table of Arrow over the memory of ``value``; raises what the libraries raise."""
    frame = value if hasattr(value, "columns") else value.to_frame()
    return frame.to_arrow(compat_level=imported("polars").CompatLevel.newest())


def polars_of(word: str, *parts: Any) -> Any:
    """The object that the parts are of; ValueError where they are of none, UnsupportedError without
    polars."""
    try:
        import polars
    except ImportError:
        raise UnsupportedError("needs polars", hint="pip install polars") from None
    if (made := _nested_back(word, parts)) is not None:
        return made
    if (made := _wide_back(word, parts)) is not None:
        return made
    (table,) = parts
    if word == "class":
        if type(table) is not str or _class(table) is None:
            raise ValueError("polars has no such type")
        return _class(table)
    try:
        frame = polars.DataFrame(table) if is_table(table) else None
        if frame is not None:
            frame.columns = table.column_names  # of none it makes some
    except Exception as error:  # whatever the library says of columns that it has not
        raise ValueError(f"nothing of polars ({error})") from None
    if frame is None or (word in ("series", "type") and frame.width != 1):
        raise ValueError("no table of its columns")
    by_word: dict[str, Any] = {"series": frame.to_series, "type": lambda: frame.dtypes[0]}
    return frame.schema if word == "schema" else by_word.get(word, lambda: frame)()
