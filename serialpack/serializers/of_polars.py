"""Frames, series, schemas and types of polars as extensions of MessagePack: made and undone.

``man/spk.5``, Objects of Python. The first two are tables of Arrow, whose memory is theirs; a
schema is that of one without rows, a type that of its only column.
"""

from __future__ import annotations

from typing import Any

from serialpack.errors import UnsupportedError
from serialpack.imported import imported
from serialpack.serializers.of_arrow import is_table

OF_POLARS = 32


def is_of_polars(value: Any) -> bool:
    """Whether ``value`` is a frame or a series of polars."""
    polars = imported("polars")
    return polars is not None and type(value) in (polars.DataFrame, polars.Series)


def parts_of_polars(value: Any) -> tuple[int, list[Any]] | None:
    """What an object of polars becomes; None for what is none, TypeError where it is not held."""
    polars = imported("polars")
    if polars is None:
        return None
    if isinstance(value, type):
        named = issubclass(value, polars.DataType) and _class(value.__name__) is value
        return (OF_POLARS, ["class", value.__name__]) if named else None
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


def _class(name: str) -> Any:
    """The class of types of that name; None where there is none."""
    import polars

    found = getattr(polars, name, None)
    return found if isinstance(found, type) and issubclass(found, polars.DataType) else None


def table_of_polars(value: Any) -> Any:
    """The table of Arrow over its memory; what the libraries raise where there is none."""
    frame = value if hasattr(value, "columns") else value.to_frame()
    return frame.to_arrow(compat_level=imported("polars").CompatLevel.newest())


def polars_of(word: str, table: Any) -> Any:
    """The object again; ValueError where the parts are none, UnsupportedError without polars."""
    try:
        import polars
    except ImportError:
        raise UnsupportedError("needs polars", hint="pip install polars") from None
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
    made: dict[str, Any] = {"series": frame.to_series, "type": lambda: frame.dtypes[0]}
    return frame.schema if word == "schema" else made.get(word, lambda: frame)()
