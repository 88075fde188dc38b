"""Numbers as other programs write them are numbers, and are written so again."""

from __future__ import annotations

import io
import random
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from serialpack.conversion.types import arrow_cells
from serialpack.conversion.types.conventions import CONVENTIONS, FULL, texts_of
from serialpack.conversion.types.seen import CellsSeen
from serialpack.conversion.types.spelling import Spelling, possible, values_of
from tests.conversion.types.test_types import INFER, converted

pa = pytest.importorskip("pyarrow")

#: On both sides of where each of them begins to write an exponent, and of 2 to the 53rd.
SIZES = [1e-4, 1e-3, 1e-5, 1e-6, 1e-7, 1e5, 1e6, 1e7, 1e14, 1e15, 1e16, 1e21, 1e22, 1e100, 1e-100]


def numbers(digits: int, seed: int = 5) -> list[float]:
    """Doubles of up to so many digits, of all sizes."""
    drawn = random.Random(seed)
    found = [0.0, 1.0, 100.0, 0.5, 1234.5, 0.00012, 123456.0, 1200000.0, 12000000.0]
    found += [size * factor for size in SIZES for factor in (1, 2, 9.5, 0.15)]
    found += [drawn.uniform(1, 10) * 10.0 ** drawn.randrange(-12, 24) for _ in range(500)]
    found += [drawn.uniform(-1000, 1000) for _ in range(200)]
    return [float(f"{number:.{digits - 1}e}") for number in found]


def by_arrow(values: Sequence[float]) -> list[str]:
    import pyarrow.csv

    out = io.BytesIO()
    pyarrow.csv.write_csv(pa.table({"x": values}), out)
    return out.getvalue().decode().split()[1:]


def by_polars(values: Sequence[float]) -> list[str]:
    polars = pytest.importorskip("polars")
    written: str = polars.DataFrame({"x": values}).write_csv()
    return written.split()[1:]


def by_sqlite(values: Sequence[float]) -> list[str]:
    with closing(sqlite3.connect(":memory:")) as base:
        return [base.execute("select ? || ''", (value,)).fetchone()[0] for value in values]


def by_node(values: Sequence[float]) -> list[str]:
    if (node := shutil.which("node")) is None:
        pytest.skip("no node")
    script = "for (const x of JSON.parse(require('fs').readFileSync(0))) console.log(String(x))"
    data = msgspec.json.encode(values)
    return (
        subprocess.run([node, "-e", script], input=data, capture_output=True)
        .stdout.decode()
        .split()
    )


def by_java(values: Sequence[float], folder: Path) -> list[str]:
    if (java := shutil.which("java")) is None or shutil.which("javac") is None:
        pytest.skip("no java")
    (folder / "Writes.java").write_text(
        "public class Writes { public static void main(String[] all) {"
        " for (String each : all) System.out.println(Double.parseDouble(each)); } }"
    )
    command = [java, str(folder / "Writes.java"), *map(repr, values)]
    return subprocess.run(command, capture_output=True, text=True).stdout.split()


#: Who writes so: how many digits it writes at most, and how it does.
PEERS: dict[str, tuple[int, Callable[[Sequence[float]], list[str]]]] = {
    "arrow": (17, by_arrow),
    "c6": (6, lambda values: [f"{value:g}" for value in values]),
    "ecmascript": (17, by_node),
    "json": (17, lambda values: [msgspec.json.encode(value).decode() for value in values]),
    "polars": (17, by_polars),
    "postgresql": (15, lambda values: [f"{value:.15g}" for value in values]),
    "sqlite": (15, by_sqlite),
}


@pytest.mark.parametrize("name", PEERS)
def test_a_convention_is_that_of_its_program(name: str) -> None:
    digits, write = PEERS[name]
    values = numbers(digits)
    # Whole numbers beyond this have a point here, and stay text: they may be integers.
    cells = dict(zip(write(values), values, strict=True))
    kept = {cell: v for cell, v in cells.items() if abs(v) < 1 << 53 or not cell.isdigit()}
    assert len(kept) > len(values) / 2
    assert texts_of([*kept.values()], name) == [*kept]


def test_the_convention_of_java_is_its_own(tmp_path: Path) -> None:
    """Up to version 18 it writes more digits than it takes of some: of few, near 1, of none."""
    values = [value for value in numbers(4) if not value or 1e-10 < value < 1e18]
    assert texts_of(values, "java") == by_java(values, tmp_path)


#: What R and .NET write, as their manuals have it (``scipen`` of ``options``; ``Double.ToString``).
EXAMPLES = {
    "r": "1e+05 123456 1e-04 0.00012 0.001 1200000 1.2e+07 1e+15 0.5 12345 1e-300 -1e+05 -0.25",
    "dotnet": "1E-05 0.0001 1E+15 123456789012345 1.5E+20 1.2E-07 0.5 100000 -2E-10 1E-300",
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_convention_writes_what_its_manual_has(name: str) -> None:
    cells = EXAMPLES[name].split()
    assert texts_of([float(cell) for cell in cells], name) == cells


@pytest.mark.parametrize("target", ["parquet", "arrow", "sqlite"])
@pytest.mark.parametrize("name", [*CONVENTIONS, FULL])
def test_columns_of_any_convention_have_a_type_and_come_back(name: str, target: str) -> None:
    """Also where most blocks have nothing that tells it: they stayed text."""
    plain = [0.5, 2.25, 1024.0, -7.125, 33.0, 0.0625] * 700
    values = [*plain, *numbers(6), *plain]
    texts = texts_of(values, name) if name != FULL else [f"{value:.17g}" for value in values]
    cells = [c for c in texts if not (c.isdigit() and int(c) > 1 << 53)]
    source = "\n".join(["x,n", *(f"{cell},{n}" for n, cell in enumerate(cells)), ""]).encode()
    data, report = converted(source, target, shaping=INFER)
    assert report.types == {"x": "number", "n": "integer"}
    assert report.comes_back == "bytes"
    assert converted(data, "csv", target)[0] == source


def columns() -> list[list[str]]:
    """Cells of columns, each written by one program, of sizes near to each other."""
    drawn, found = random.Random(3), []
    for _ in range(600):
        low = drawn.randrange(-9, 20)
        sizes = [drawn.randrange(low, low + drawn.choice([1, 3, 6])) for _ in range(4)]
        digits = drawn.choice([0, 1, 3, 8])
        values = [float(f"{drawn.uniform(-9, 9):.{digits}f}e{size}") for size in sizes]
        values += [drawn.choice([0.0, -0.0])] * drawn.randrange(2)
        name = drawn.choice([*CONVENTIONS, None])
        found.append(texts_of(values, name) if name else [*map(repr, values)])
        if not digits:
            found.append([f"{value / 8:.17g}" for value in values])
    return found


def test_what_is_settled_by_sizes_is_what_all_cells_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    """By arrays, by text, and by each spelling on its own."""
    monkeypatch.setattr(arrow_cells, "_LEAST", 0)
    told = set()
    for cells in columns():
        expected = frozenset(s for s in possible(cells[0]) if values_of(cells, s) is not None)
        by_text, by_arrays = CellsSeen(), CellsSeen()
        by_text.look(cells, empty_is_null=True)
        by_arrays.look_at_cells(cells)
        if Spelling("integer") in expected and max(abs(int(cell)) for cell in cells) <= 1 << 53:
            expected -= {Spelling("number", ".0")}
        assert by_text.spellings == expected, cells
        assert by_arrays.spellings == expected, cells
        told |= {each.style for each in expected}
    assert told >= {*CONVENTIONS, "", ".0", FULL}
