"""What a conversion costs before it is refused, and what empty members of a compressed file do."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import pickle
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import pytest
import zstandard

import serialpack
from serialpack.api import HEAD
from serialpack.cli.app import run
from serialpack.compressed.source import decompressed
from serialpack.conversion.plan import ConversionPlan
from serialpack.conversion.routes.stream import convert_stream
from serialpack.errors import InputError, RefusedError, ValueRefusedError
from serialpack.files.source import Source
from serialpack.formats import FORMATS
from serialpack.formats.losses.changes import Changer
from serialpack.formats.shared import column_types as _columns
from serialpack.formats.tables.parquet import ParquetFormat
from serialpack.serializers import SERIALIZERS
from tests.formats.work import lines_run

MEMBERS = {
    "zst": zstandard.ZstdCompressor().compress(b""),
    "gz": gzip.compress(b""),
    "bz2": bz2.compress(b""),
    "xz": lzma.compress(b""),
}


@pytest.mark.parametrize("extension", MEMBERS)
def test_empty_members_cost_the_same_each(tmp_path: Path, extension: str) -> None:
    def read(count: int) -> None:
        path = tmp_path / f"{count}.{extension}"
        path.write_bytes(MEMBERS[extension] * count)
        with Source(str(path)) as source:
            assert decompressed(source).read(1) == b""

    read(1)
    few, many = lines_run(read, 300), lines_run(read, 1200)
    assert many < 4.5 * few
    assert many < 150 * 1200


def test_one_decompressor_reads_all_frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    new = zstandard.ZstdDecompressor

    def counted(**options: Any) -> Any:
        made.append(new(**options))
        return made[-1]

    monkeypatch.setattr(zstandard, "ZstdDecompressor", counted)
    path = tmp_path / "a.zst"
    path.write_bytes(MEMBERS["zst"] * 100)
    with Source(str(path)) as source:
        assert decompressed(source).read(1) == b""
    assert len(made) == 1


def test_zeros_between_members_are_not_copied(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes((gzip.compress(b"") + b"\0") * 300 + gzip.compress(b"a") + bytes(200_000))
    with Source(str(path)) as source:
        assert decompressed(source).read(9) == b"a"


def test_what_comes_in_small_pieces_is_joined_once() -> None:
    class Slow(io.RawIOBase):
        def read(self, size: int = -1, /) -> bytes:
            return b"x" if size else b""

    assert Source(Slow()).read(2000) == b"x" * 2000  # type: ignore[arg-type]


def test_many_skippable_frames_are_looked_behind(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"\x50\x2a\x4d\x18\0\0\0\0" * 9000 + MEMBERS["zst"])
    with Source(str(path)) as source:
        assert decompressed(source).read(1) == b""


def _refused(lines: list[dict[str, Any]], to: str) -> tuple[int, Exception]:
    """How many bytes were read before the refusal, and that."""
    file = io.BytesIO("".join(json.dumps(line) + "\n" for line in lines).encode())
    with pytest.raises((ValueRefusedError, RefusedError)) as caught:
        convert_stream(file.read, lambda _: None, ConversionPlan("ndjson", to), block_size=1000)
    return file.tell(), caught.value


@pytest.mark.parametrize("to", ["parquet", "arrow"])
@pytest.mark.parametrize("bad", [{"b": 1}, {"a": "text"}, {"a": [1, "x"]}])
def test_a_table_is_refused_while_it_is_read(to: str, bad: dict[str, Any]) -> None:
    pytest.importorskip("pyarrow")
    lines: list[dict[str, Any]] = [{"a": number} for number in range(20_000)]
    lines[500] = bad
    read, error = _refused(lines, to)
    assert read < 20_000
    assert isinstance(error, ValueRefusedError)
    assert error.record == 500


def test_the_first_bad_record_costs_what_stands_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    serializer: Any = SERIALIZERS.create("parquet")
    tried: list[int] = []
    fit, write = type(serializer).fit, ParquetFormat.write_stored

    def fitted(self: Any, records: list[Any]) -> None:
        tried.append(len(records))
        fit(self, records)

    def written(self: Any, records: list[Any]) -> bytes:
        tried.append(20 * len(records))
        return write(self, records)

    monkeypatch.setattr(type(serializer), "fit", fitted)
    monkeypatch.setattr(ParquetFormat, "write_stored", written)
    records: list[dict[str, Any]] = [{"a": number} for number in range(10_000)]
    records[100] = {"b": 1}
    lost = serializer.blame(records, ValueError())
    assert lost.record == 100
    assert sum(tried) < 2 * len(records)


def test_maps_of_many_shapes_are_no_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused at the second shape, before each becomes columns."""
    pytest.importorskip("pyarrow")
    made = 0
    columns_in = _columns._columns_in

    def counted(*args: Any) -> Any:
        nonlocal made
        made += 1
        return columns_in(*args)

    monkeypatch.setattr(_columns, "_columns_in", counted)
    with pytest.raises(_columns.Mixed, match=r"maps with the keys \('k0',\) and \('k1',\)"):
        cast(ParquetFormat, FORMATS.get("parquet")).write_stored(
            [{f"k{number}": 1} for number in range(1000)]
        )
    assert made == 0


@pytest.mark.parametrize(("to", "most"), [("csv", 40), ("parquet", 20)])
def test_records_become_rows_with_few_lines_of_python(to: str, most: int) -> None:
    """Both passes and the proof. In each UUID is what looks like an exponent, as in most there are
    by chance: that made it 71 lines a record to CSV."""
    pytest.importorskip("pyarrow")

    def convert(count: int) -> None:
        lines = [
            f'{{"id": "70a0-42e3-{n}", "x": {n}.5, "m": {{"a": {n}}}, "l": ["{n}"], "z": null}}\n'
            for n in range(count)
        ]
        source = io.BytesIO("".join(lines).encode())
        serialpack.convert(source, io.BytesIO(), format="ndjson", to=to, threads=1)

    convert(2)
    few, many = lines_run(convert, 100), lines_run(convert, 500)
    assert many - few < most * 400


@pytest.mark.parametrize("to", ["csv", "msgpack"])
def test_lines_are_records_though_their_number_be_right(to: str) -> None:
    """Behind what is looked at; at the front they are taken as values one after another."""
    source = io.BytesIO(b'{"a":0}\n' * HEAD + b'{"a":1} {"a":2}\n{"a":\n3}\n')
    with pytest.raises(InputError, match=rf"line {HEAD + 1}, column 9 .* a second value"):
        serialpack.convert(source, io.BytesIO(), format="ndjson", to=to)


def test_a_table_that_is_to_be_joined_is_opened_to_look_at_it_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was opened once more for what stands between its cells."""
    from serialpack.conversion import one_pass, preparing, preview, surveying

    opened: list[str] = []
    real = preparing.prepared

    def counted(source: Any, *rest: Any, **more: Any) -> Any:
        opened.append(source.path)
        return real(source, *rest, **more)

    for module in (preview, surveying, one_pass):
        monkeypatch.setattr(module, "prepared", counted)
    paths = [str(tmp_path / name) for name in ("a.csv", "b.csv")]
    for path in paths:
        Path(path).write_text("a;b\n1;2\n")
    assert run(["unpack", *paths, "-o", str(tmp_path / "all.csv")]) == 0
    assert (tmp_path / "all.csv").read_text() == "a;b\n1;2\n1;2\n"
    assert opened == [*paths, *paths]  # all are looked at, and then converted


@pytest.mark.parametrize("to", ["parquet", "arrow"])
def test_no_number_of_a_column_is_tried_with_a_file_of_its_own(
    to: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Decimals were, and with ``--lossy all`` each double without a fraction."""
    pytest.importorskip("pyarrow")
    rows = [{"d": Decimal(n).scaleb(-2), "f": float(n)} for n in range(-200, 200)]
    minus_zero = [{"d": Decimal("-0.00"), "f": 0.0}]  # which no decimal of Arrow's is
    written = 0
    kind = cast(Any, SERIALIZERS.cls(to))
    real = kind.dump

    def counted(self: Any, records: list[Any]) -> Any:
        nonlocal written
        written += 1
        return real(self, records)

    monkeypatch.setattr(kind, "dump", counted)
    for lossy in ((), ("all",)):
        for more in ([], minus_zero):
            source = io.BytesIO(pickle.dumps(rows + more))
            done = serialpack.convert(source, io.BytesIO(), to=to, lossy=lossy, trust=True)
            assert ("decimals" in [loss.rule for loss in done.carried]) == bool(more)
    assert written < 80


def test_times_as_the_target_has_them_are_not_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each value of a table with one such column was asked about, in Parquet."""
    walked: list[Any] = []
    walk = Changer.walked

    def counted(self: Changer, value: Any) -> Any:
        walked.append(value)
        return walk(self, value)

    monkeypatch.setattr(Changer, "walked", counted)
    local, utc = datetime(2024, 1, 1), datetime(2024, 1, 1, tzinfo=UTC)
    offset = datetime(2024, 1, 1, tzinfo=timezone(timedelta(hours=2)))
    for times, some in (([local] * 50, False), ([utc] * 50, False), ([utc, offset, local], True)):
        walked.clear()
        data = pickle.dumps([{"t": time, "x": 0.5} for time in times])
        made = io.BytesIO()
        report = serialpack.convert(
            io.BytesIO(data), made, format="pickle", to="parquet", trust=True
        )
        assert bool(walked) == some == bool(report.carried)
