"""The reports of bench as text and as data: every row said, in its words and in its place."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from serialpack.bench.reports import FORMATS, report
from serialpack.bench.reports._drawing import Axis, placed
from serialpack.bench.reports.row_columns import by_size, significant
from serialpack.bench.reports.sweeps import curves
from serialpack.bench.reports.table import MOST_N, MOST_ROWS
from serialpack.bench.results import (
    Anchor,
    Entropy,
    Machine,
    Recommendation,
    Results,
    Row,
    SampledFiles,
    from_json,
)
from tests.bench.found import (
    SIZE,
    file_results,
    hostile_results,
    object_results,
    recommended,
    row,
    sweep_results,
    unknown,
)

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/schemas/bench.json").read_text("utf-8"))

#: Each kind of results that bench gives.
KINDS: list[Callable[[], Results]] = [file_results, object_results, sweep_results, hostile_results]

EMPTY = file_results()._replace(rows=[], anchors=[], recommendations=[], notes=[], limit=None)


def text(results: Results, width: int = 100) -> list[str]:
    return report(results, "table", width=width).splitlines()


def test_table_is_sorted_by_size_and_marks_the_front() -> None:
    found = file_results()
    lines = [line for line in text(found) if re.match(r"[* ] [a-z-]+(\+\S+)+ ", line)]
    names = [line[2:].split()[0] for line in lines]
    assert names == [r.chain for r in by_size(found.rows) if r.chain in names]
    assert len(names) == MOST_ROWS
    for line, name in zip(lines, names, strict=True):
        (here,) = [r for r in found.rows if r.chain == name]
        assert line.startswith("*") == here.front
        assert ("(auto)" in line) == here.auto
        assert f" {here.size:,} " in line


def test_table_shows_the_whole_front_however_long() -> None:
    rows = [
        row(
            f"raw+zstd:{i}",
            size=1000 + i,
            pack_seconds=(1.0 if i < 40 else 2.0) / (1 + i),
            front=i < 40,
        )
        for i in range(50)
    ]
    lines = text(EMPTY._replace(rows=rows))
    assert sum(line.startswith("* raw") for line in lines) == 40
    assert "and 10 more; --format json, csv or markdown has all" in lines


@pytest.mark.parametrize("width", [60, 80, 100, 140])
@pytest.mark.parametrize("kind", KINDS)
def test_table_keeps_to_the_width(kind: Callable[[], Results], width: int) -> None:
    """Commands alone are longer: they are to be copied in one piece."""
    found = kind()
    commands = [c.command for c in found.recommendations]
    long = [line for line in text(found, width) if len(line) > width]
    if kind is not hostile_results:
        assert all(line.strip() in commands for line in long)
        assert all(f"    {command}" in text(found, width) for command in commands)
    else:
        assert all(line.startswith("    serialpack pack") for line in long)


def test_a_wide_table_says_more() -> None:
    narrow, wide = ("\n".join(text(file_results(), width)) for width in (80, 160))
    assert "around" not in narrow
    assert "around" in wide
    assert "spread" in wide
    for title in ("size", "ratio", "pack", "unpack", "kept", "limit"):
        assert f" {title}" in narrow


def test_a_long_chain_has_a_line_of_its_own() -> None:
    chain = "msgspec-msgpack+bitshuffle:8+blosc-zstd:1@256K/4"
    lines = text(EMPTY._replace(rows=[row(chain), row("raw+none")]), width=70)
    at = lines.index(f"  {chain}")
    assert lines[at + 1].split()[0] == "4,000,000"
    assert lines[at + 1].index("4,000,000") == lines[at + 2].index("4,000,000")


def test_rows_without_figures_are_grouped_by_reason() -> None:
    lines = text(file_results())
    assert "refused: bson: cannot hold a list at the top ($: array)" in lines
    assert "failed: ujson: crashed: signal 11" in lines
    assert not any(line.startswith("  bson") for line in lines)
    many = [unknown(f"raw+zstd:{i}", "skipped", "no time") for i in range(1, 13)]
    lines = text(EMPTY._replace(rows=[*many, row("raw+none")]), width=200)
    listed = ", ".join(f"raw+zstd:{i}" for i in range(1, 9))
    assert f"skipped: {listed} and 4 more: no time" in lines


def test_sampled_figures_are_marked() -> None:
    rows = [row("yaml+xz", status="sampled", size=1_234_567, ratio=20.6)]
    lines = text(EMPTY._replace(rows=rows))
    assert any("~1,230,000" in line for line in lines)
    assert any(line.startswith("~ measured with a part") for line in lines)
    assert not any("1,234,567" in line for line in lines)


def test_anchors_limit_and_notes() -> None:
    lines = text(file_results())
    (memcpy,) = [line for line in lines if line.startswith("  memcpy ")]
    assert lines[lines.index(memcpy) - 1] == ""
    assert "zstd -3: is not installed" in lines
    assert "limit 1,980,000 bytes: entropy of what was drawn at random" in lines
    assert "×1.23" in next(line for line in lines if line.startswith("* columns+xz "))
    assert "note: Each source is packed from memory; --disk measures through files." in lines


def test_recommendations_promise_what_their_row_has() -> None:
    found = file_results()
    lines = text(found)
    at = lines.index("smallest: columns+xz; the least bytes of all")
    assert lines[at + 1].startswith("    2,428,258 bytes, ratio 10.5, packs 2.76 MB/s")
    assert lines[at + 2] == f"    {found.recommendations[0].command}"


def test_columns_for_threads_and_blocks_only_where_they_differ() -> None:
    one = EMPTY._replace(rows=[row("raw+xz")])
    more = EMPTY._replace(rows=[row("raw+xz"), row("raw+xz", threads=2, block_size=1 << 16)])
    assert not any("threads" in line or "blocks" in line for line in text(one))
    lines = text(more, width=120)
    assert any("threads" in line and "blocks" in line for line in lines)
    assert any(re.search(r"raw\+xz +2 +64K ", line) for line in lines)


def test_objects_have_the_tables_of_the_field() -> None:
    lines = text(object_results(), width=120)
    head = next(i for i, line in enumerate(lines) if "write" in line)
    assert lines[head].split()[:6] == ["chain", "write", "read", "both", "total", "size"]
    assert lines[head + 1].split()[:4] == ["s", "s", "s", "s"]
    pickle = next(line for line in lines if "pickle+zstd:3" in line)
    assert pickle.split()[2:6] == ["0.210", "0.160", "0.370", "0.440"]
    wide = text(object_results(), width=160)
    assert any(line.count("mean ") == 3 for line in wide)
    assert next(line for line in wide if "json+none" in line).split()[-3:] == [
        "1.02", "0.781", "1.80",
    ]  # fmt: skip
    rows = [r for r in object_results().rows if r.codec == "none"]
    assert not any("total" in line for line in text(object_results()._replace(rows=rows)))


def test_a_sweep_is_a_table_a_measure() -> None:
    lines = text(sweep_results(count=40))
    assert [line for line in lines if line.endswith(")") and line.startswith(("size", "time"))] == [
        "size (bytes)",
        "time to pack (µs)",
        "time to unpack (µs)",
    ]
    at = lines.index("size (bytes)")
    assert lines[at + 1].split() == ["pickle", "protobuf", "msgpack", "json", "xml"]
    body = lines[at + 3 : lines.index("", at)]
    assert len(body) <= MOST_N
    assert body[0].split()[:2] == ["100", "1,060"]
    assert body[-1].split()[0] == "4,000"
    assert any(line.startswith("and ") and "more n" in line for line in lines)


def test_chains_of_a_sweep_that_do_not_fit_stand_below() -> None:
    narrow = text(sweep_results(), width=40)
    assert narrow.count("size (bytes)") == 2
    assert max(map(len, narrow)) <= 40


def test_colour_changes_no_letter() -> None:
    found = file_results()
    drawn = report(found, "table", width=80, colour=True)
    assert "\x1b[32m" in drawn
    assert re.sub(r"\x1b\[[0-9;]*m", "", drawn) == report(found, "table", width=80)


@pytest.mark.parametrize("format", FORMATS)
def test_nothing_acts_on_the_terminal(format: str) -> None:
    """Escapes and bidirectional marks in names are spelled; JSON and CSV are data, not words."""
    drawn = report(hostile_results(), format)
    assert "\x1b" not in drawn
    if format in ("table", "markdown"):
        assert "\u202e" not in drawn
        assert r"\x1b[31m\u202e" in drawn.replace("\\\\", "\\").replace("\\[", "[")


@pytest.mark.parametrize("format", FORMATS)
def test_nothing_measured_and_interrupted(format: str) -> None:
    """What is known so far may be nothing."""
    assert report(EMPTY._replace(interrupted=True), format)
    assert "stopped before its end" in report(EMPTY._replace(interrupted=True), "table")


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


@pytest.mark.parametrize("kind", KINDS)
def test_markdown_has_all_rows_in_whole_tables(kind: Callable[[], Results]) -> None:
    found = kind()
    lines = report(found, "markdown").splitlines()
    table = [cells(line) for line in lines if line.startswith("| ")]
    width = len(table[0])
    assert {len(line) for line in table} == {width}
    names = {r.chain for r in found.rows if r.size}
    drawn = "\n".join(lines)
    assert all(f"`{name}`" in drawn for name in names if "<" not in name)


def test_markdown_of_hostile_names_is_text() -> None:
    drawn = report(hostile_results(), "markdown")
    outside = re.sub(r"(?s)```+sh.*?```+", "", drawn)
    assert not re.search(r"(?<!\\)<", outside)
    assert not re.search(r"(?<!\\)\[link", outside)


def test_markdown_command_cannot_end_its_block() -> None:
    (choice, *_) = file_results().recommendations
    found = EMPTY._replace(recommendations=[choice._replace(command="echo '```'")])
    lines = report(found, "markdown").splitlines()
    at = lines.index("echo '```'")
    assert (lines[at - 1], lines[at + 1]) == ("````sh", "````")


@pytest.mark.parametrize("kind", KINDS)
def test_csv_has_every_figure(kind: Callable[[], Results]) -> None:
    found = kind()
    lines = list(csv.DictReader(io.StringIO(report(found, "csv"), newline="")))
    assert [line["kind"] for line in lines].count("row") == len(found.rows)
    assert [line["kind"] for line in lines].count("anchor") == len(found.anchors)
    for line, here in zip(lines, found.rows, strict=False):
        for key in set(Row._fields) - {"seconds", "means"}:
            value = getattr(here, key)
            if isinstance(value, bool | list) or value is None:
                continue
            assert type(value)(line[key]) == value
        assert line["front"] == str(here.front).lower()
        assert line["filters"].split() == here.filters
        for by_step, times in (("seconds_", here.seconds), ("means_", here.means or {})):
            assert {
                key.removeprefix(by_step): float(value)
                for key, value in line.items()
                if key.startswith(by_step) and value
            } == times


@pytest.mark.parametrize("kind", KINDS)
def test_json_is_as_the_schema_says_and_comes_back(kind: Callable[[], Results]) -> None:
    data = json.loads(report(kind(), "json"))
    Draft202012Validator(SCHEMA).validate(data)
    assert from_json(data) == kind()


def test_schema_knows_every_key() -> None:
    defs: dict[str, Any] = SCHEMA["$defs"]
    for part, fields in (
        (SCHEMA, ("version", *Results._fields)),
        (SCHEMA["properties"]["machine"], Machine._fields),
        (defs["row"], Row._fields),
        (defs["anchor"], Anchor._fields),
        (defs["recommendation"], Recommendation._fields),
        (defs["limit"], Entropy._fields),
        (defs["files"], SampledFiles._fields),
    ):
        assert tuple(part["properties"]) == fields


def test_curves_hold_each_serializer_against_pickle() -> None:
    found = {each.title: each for each in curves(sweep_results())}
    assert [each.unit for each in found.values()] == [
        "bytes", "times", "seconds", "seconds", "times", "times", "times",
    ]  # fmt: skip
    over = found["pack: time over pickle's"].lines
    assert {value for _, value in over["pickle+none"]} == {1.0}
    assert all(abs(value - 3.1) < 1e-9 for _, value in over["json+none"])
    (n, ratio), *_ = found["unpack over pack"].lines["pickle+none"]
    (_, pack), *_ = found["time to pack"].lines["pickle+none"]
    (_, unpack), *_ = found["time to unpack"].lines["pickle+none"]
    assert (n, ratio) == (100, unpack / pack)


def test_curves_without_pickle() -> None:
    found = sweep_results()
    rows = [r for r in found.rows if r.serializer != "pickle"]
    titles = [each.title for each in curves(found._replace(rows=rows))]
    assert len(titles) == 5
    assert not any("pickle" in title for title in titles)


def test_numbers_have_three_digits() -> None:
    assert [significant(v) for v in (0.0123, 0.9951, 9.996, 12.34, 99.96, 1234.5)] == [
        "0.012", "1.00", "10.0", "12.3", "100", "1,234",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("values", "unit", "ticks"),
    [
        (
            [900, 70_000],
            "bytes",
            ["1 KiB", "2 KiB", "4 KiB", "8 KiB", "16 KiB", "32 KiB", "64 KiB"],
        ),
        ([2 * SIZE], "bytes", ["48 MiB"]),
        ([2e-5, 0.9e-3], "seconds", ["20 µs", "50 µs", "100 µs", "200 µs", "500 µs", "1 ms"]),
        ([3, 40_000], "MB/s", ["10", "100", "1,000", "10,000"]),
    ],
)
def test_axes_have_round_numbers(values: list[float], unit: str, ticks: list[str]) -> None:
    axis = Axis(values, unit)
    assert [text for _, text in axis.ticks()] == ticks
    assert all(0 <= axis.at(value) <= 1 for value in values)


def test_labels_cover_nothing() -> None:
    points = [(50.0, 50.0), (58.0, 50.0), (50.0, 58.0), (199.0, 50.0)]
    boxes = placed(points, [(60, 12)] * 4, (200, 100), points, gap=8)
    found = [box for box in boxes if box is not None]
    assert boxes[0] is not None
    assert not any(a.meets(b) for a in found for b in found if a is not b)
    for box in found:
        assert not any(
            box.x < x < box.x + box.width and box.y < y < box.y + box.height for x, y in points
        )
        assert box.x >= 0
        assert box.x + box.width <= 200
    assert placed([(5, 5)], [(300, 12)], (200, 100), [], gap=8) == [None]


def test_of_several_reasons_for_one_chain_each_names_its_purpose() -> None:
    """They stood one after another, and nobody knew which was of what."""
    both = [
        recommended(kind, "raw+zstd:3")._replace(why=f"why {kind}")
        for kind in ("balanced", "portable")
    ]
    text = report(file_results()._replace(recommendations=both), "table", width=200)
    assert "\nrecommended, each with the command to type:\n\nbalanced, portable: raw+zstd:3" in text
    assert "; balanced: why balanced; portable: why portable\n" in text
    alike = [each._replace(why="the same") for each in both]
    text = report(file_results()._replace(recommendations=alike), "table", width=200)
    assert "raw+zstd:3; the same\n" in text
