"""Tables of more columns than are of use are refused at once; others cost the same for each."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import serialpack
from serialpack.conversion.tables import survey
from serialpack.conversion.tables.shape import MOST_COLUMNS
from serialpack.errors import RefusedError
from serialpack.formats.csv.text import CsvText
from tests.formats.work import lines_run

TARGETS = ("csv", "tsv", "parquet", "arrow", "avro")


def _wide(count: int) -> dict[str, int]:
    return {f"k{number}": number for number in range(count)}


def _csv(count: int) -> str:
    row = _wide(count)
    return ",".join(row) + "\n" + ",".join(map(str, row.values())) + "\n"


#: Sources of tables with so many columns.
SOURCES: dict[str, Callable[[int], str]] = {
    "object.json": lambda count: json.dumps(_wide(count)),
    "array.json": lambda count: json.dumps([{"k": 1}, _wide(count)]),
    "lines.ndjson": lambda count: json.dumps(_wide(count)) + "\n",
    "list.ndjson": lambda count: json.dumps([1] * count) + "\n",
    "many.ndjson": lambda count: "".join(f'{{"k{number}":1}}\n' for number in range(count)),
    "row.csv": _csv,
    "row.yaml": lambda count: "".join(f"k{number}: 1\n" for number in range(count)),
}

REFUSED = [name for name in SOURCES if name != "row.yaml"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("wide")
    for name, text in SOURCES.items():
        if name in REFUSED:  # YAML passes the same code, and takes long to read
            (made / name).write_text(text(MOST_COLUMNS + 1))
    return made


@pytest.mark.parametrize(
    ("to", "name"),
    # A list is one value to Avro.
    [(to, name) for to in TARGETS for name in REFUSED if (to, name) != ("avro", "list.ndjson")],
)
def test_more_columns_are_refused_before_a_byte_is_written(
    folder: Path, tmp_path: Path, name: str, to: str
) -> None:
    """A million of them took 980 MB and most of a minute as CSV, and many times that as Parquet."""
    target = tmp_path / f"out.{to}"
    with pytest.raises(RefusedError, match="columns or more; at most 100,000") as caught:
        serialpack.convert(folder / name, target, to=to)
    assert "--at PATH" in (caught.value.hint or "")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("quote", ["", '"'])
def test_a_long_header_is_refused_before_a_name_is_made_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quote: str
) -> None:
    """A million names took 600 MB."""
    names = [f"{quote}k{number}{quote}" for number in range(MOST_COLUMNS + 1)]
    (tmp_path / "long.csv").write_text(",".join(names) + "\n" + "," * MOST_COLUMNS + "\n")
    monkeypatch.setattr(CsvText, "parse", None)
    with pytest.raises(RefusedError, match="a table of 100,001 columns or more"):
        serialpack.convert(tmp_path / "long.csv", tmp_path / "out.avro", to="avro")


def test_columns_of_maps_in_maps_are_counted(tmp_path: Path) -> None:
    record = {f"a{number}": _wide(400) for number in range(MOST_COLUMNS // 400 + 1)}
    (tmp_path / "nested.json").write_text(json.dumps([record]))
    with pytest.raises(RefusedError, match="at most 100,000"):
        serialpack.convert(tmp_path / "nested.json", tmp_path / "out.csv", to="csv")


@pytest.mark.parametrize("name", ["array.json", "lines.ndjson", "row.csv"])
def test_what_the_message_names_holds_them(folder: Path, tmp_path: Path, name: str) -> None:
    serialpack.convert(folder / name, tmp_path / "all.json", to="json")
    last = json.loads((tmp_path / "all.json").read_text())
    last = last[-1] if type(last) is list else last
    assert list(last) == list(_wide(MOST_COLUMNS + 1))
    serialpack.convert(folder / name, tmp_path / "some.csv", to="csv", fields=["k1", "k77"])
    assert (tmp_path / "some.csv").read_text().splitlines()[0] == "k1,k77"


#: Lines of Python run for a column of one value, from the source to the proof, at most. Those of
#: Parquet are mostly of reading the sizes in its footer and its pages again.
LINES_A_COLUMN = {"csv": 500, "tsv": 500, "arrow": 500, "avro": 1000, "parquet": 2500}

#: A row for each column makes cells, and not columns, cost the most.
_ONE_ROW = [name for name in SOURCES if name != "many.ndjson"]


@pytest.mark.slow
@pytest.mark.parametrize("to", TARGETS)
@pytest.mark.parametrize("name", _ONE_ROW)
def test_a_column_costs_the_same_beside_many(tmp_path: Path, name: str, to: str) -> None:
    """Each was gone through 500 levels of what is in it, where there was none."""

    def run(count: int) -> None:
        path = tmp_path / f"{count}.{name}"
        path.write_text(SOURCES[name](count))
        into = tmp_path / f"{count}.{name}.{to}"
        serialpack.convert(path, into, to=to, threads=1, force=True)

    run(1)
    few, many = lines_run(run, 300), lines_run(run, 1200)
    assert many < 5 * few
    assert many - few < 600 * LINES_A_COLUMN[to]


def test_the_most_columns_are_written(tmp_path: Path) -> None:
    source, target = tmp_path / "most.csv", tmp_path / "most.tsv"
    source.write_text(_csv(MOST_COLUMNS))
    serialpack.convert(source, target, to="tsv")
    assert target.read_text() == _csv(MOST_COLUMNS).replace(",", "\t")


def test_wide_records_are_looked_at_more_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NDJSON of twice the columns took 3.5 times the time: three rows stood in a block, then one,
    and each block costs something for each column."""
    blocks: list[int] = []
    joined = survey.Looked.joined

    def counted(self: survey.Looked, other: survey.Looked) -> survey.Looked:
        blocks.append(other.most)
        return joined(self, other)

    monkeypatch.setattr(survey.Looked, "joined", counted)
    monkeypatch.setattr(survey, "_BLOCK", 16 << 10)
    monkeypatch.setattr(survey, "WIDE_BLOCK", 32 << 10)
    line = json.dumps({f"k{n}": n for n in range(500)}) + "\n"
    (tmp_path / "a.ndjson").write_text(line * 24)
    serialpack.convert(tmp_path / "a.ndjson", tmp_path / "a.csv", to="csv")
    assert blocks == [5, 5, 5, 5, 4], "12 of two"
