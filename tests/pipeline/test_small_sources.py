"""Sources of no byte, one byte, white space or one empty record, in every format, by every chain.

What packs, unpacks: alone and as an entry of an archive, through files. What is converted is a
file of its format, and packs in its turn.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import serialpack
from serialpack.conversion.targets.writers import written
from serialpack.errors import (
    InputError,
    MissingLibraryError,
    RefusedError,
    SerialpackError,
    UsageError,
)
from serialpack.formats import FORMATS
from serialpack.formats.base import ValueFormat
from serialpack.pipeline.writing import keeps
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.base import FAILURES
from serialpack.stages.stage import is_installed

FORMAT_NAMES = [entry.name for entry in FORMATS if entry.is_source]
SERIALIZER_NAMES = [entry.name for entry in SERIALIZERS]

PLAIN = {
    "empty": b"",
    "letter": b"x",
    "nul": b"\0",
    "space": b" ",
    "white": b" \n\t\r\n \n",
    "mark": b"\xef\xbb\xbf",
}
#: One record with nothing in it, and many that are few bytes in some format.
RECORDS: dict[str, list[Any]] = {
    "none": [],
    "map": [{}],
    "list": [[]],
    "null": [None],
    "maps": [{}] * 40,
    "nulls": [None] * 40,
    "rows": [{"a": None}] * 800,
}

#: Of a format that is read in a process of its own, which takes as long as a hundred of the
#: others, these alone are converted.
READ_APART = frozenset({"hdf5"})
SOME = ("empty", "letter", "records-map")

#: How a chain says that it does not take a source.
NOT_TAKEN = (InputError, RefusedError, UsageError, MissingLibraryError)


@cache
def sources(name: str) -> dict[str, bytes]:
    """What is called what, of a format."""
    return dict(_sources(name))


def _sources(name: str) -> Iterator[tuple[str, bytes]]:
    yield from PLAIN.items()
    fmt = FORMATS.get(name)
    if not isinstance(fmt, ValueFormat):
        return
    for label, records in RECORDS.items():
        try:
            yield f"records-{label}", fmt.write_text(records, {}, first=True)
        except (*FAILURES, SerialpackError, NotImplementedError):
            continue


def some_sources(name: str, other: int) -> list[tuple[str, bytes]]:
    """Every other one: each source meets every format and, by turns, half of what it goes to."""
    return list(sources(name).items())[(FORMAT_NAMES.index(name) + other) % 2 :: 2]


def test_the_sources_are_there() -> None:
    found = sources("toml")
    assert found["records-map"] == b""
    if is_installed("pyarrow"):
        assert len(sources("parquet")["records-rows"]) < len(RECORDS["rows"])


@pytest.mark.parametrize("serializer", SERIALIZER_NAMES)
@pytest.mark.parametrize("name", FORMAT_NAMES)
def test_what_packs_unpacks(name: str, serializer: str, tmp_path: Path) -> None:
    packed: dict[str, Path] = {}
    restored: dict[str, bytes] = {}
    how: dict[str, Any] = {"serializer": serializer, "format": name, "trust": True, "threads": 1}
    for label, data in some_sources(name, SERIALIZER_NAMES.index(serializer)):
        out = io.BytesIO()
        try:
            report = serialpack.pack(io.BytesIO(data), out, **how)
        except NOT_TAKEN:
            assert not SERIALIZERS.cls(serializer).exact
            continue
        back = io.BytesIO()
        serialpack.unpack(io.BytesIO(out.getvalue()), back, trust=True, threads=1)
        if report.exact:
            assert back.getvalue() == data, label
        packed[label] = tmp_path / label
        packed[label].write_bytes(data)
        restored[label] = back.getvalue()
    if packed:
        serialpack.pack_archive(packed, tmp_path / "all.spk", **how)
        serialpack.unpack_archive(tmp_path / "all.spk", tmp_path / "back", trust=True, threads=1)
    assert {label: (tmp_path / "back" / label).read_bytes() for label in packed} == restored


@cache
def packed_raw(name: str, label: str) -> bytes:
    """The container of a source: the same for whatever it is converted to."""
    out = io.BytesIO()
    serialpack.pack(io.BytesIO(sources(name)[label]), out, serializer="raw", format=name)
    return out.getvalue()


@pytest.mark.parametrize("to", written())
@pytest.mark.parametrize("name", [n for n in FORMAT_NAMES if FORMATS.get(n).has_values])
def test_what_is_converted_packs_in_its_turn(name: str, to: str) -> None:
    for label, data in some_sources(name, written().index(to)):
        if name in READ_APART and label not in SOME:
            continue
        out = io.BytesIO()
        how: dict[str, Any] = {"to": to, "trust": True, "threads": 1}
        try:
            serialpack.convert(io.BytesIO(packed_raw(name, label)), out, **how)
        except NOT_TAKEN:
            continue
        if name == to:
            assert out.getvalue() == data, label
            continue
        fmt = FORMATS.get(to)
        packs = isinstance(fmt, ValueFormat) and not fmt.unpacked
        by = to if to in SERIALIZERS else "json" if packs else "raw"
        again = io.BytesIO()
        serialpack.pack(
            io.BytesIO(out.getvalue()), again, serializer=by, format=to, trust=True, threads=1
        )
        back = io.BytesIO()
        serialpack.unpack(io.BytesIO(again.getvalue()), back, trust=True, threads=1)
        if keeps(SERIALIZERS.cls(by), FORMATS.get(to)):
            assert back.getvalue() == out.getvalue(), label
