"""Frames and series of polars as extensions of MessagePack: made and undone.

``man/spk.5``, Objects of Python. Both are tables of Arrow, whose memory is theirs.
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
    """What a frame or a series becomes; None for what is none, TypeError where it is not held."""
    if not is_of_polars(value):
        return None
    try:
        table = table_of_polars(value)
    except Exception as error:  # whatever the libraries say of types that only polars has
        raise TypeError(f"{type(value).__name__} of polars ({error})") from None
    return OF_POLARS, ["frame" if hasattr(value, "columns") else "series", table]


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
    try:
        frame = polars.DataFrame(table) if is_table(table) else None
        if frame is not None:
            frame.columns = table.column_names  # of none it makes some
    except Exception as error:  # whatever the library says of columns that it has not
        raise ValueError(f"nothing of polars ({error})") from None
    if frame is None or (word == "series" and frame.width != 1):
        raise ValueError("no table of its columns")
    return frame.to_series() if word == "series" else frame
