"""Each command of the README's conversions runs in an empty folder, and does what is said of it."""

from __future__ import annotations

import gzip
import io
import json
import re
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import serialpack
from tests.docs.commands import run_line

ROOT = Path(__file__).parents[2]


CARS = [{"Name": "a", "Miles": 18.0, "Gears": 5}, {"Name": "b", "Miles": 15, "Gears": None}]
LOG = [{"at": "2024-01-01T10:00:00Z", "ms": 12}, {"at": "later", "ms": 7.5, "who": "ann"}]
STATUSES = [
    {"id": 505874924095815681, "text": "1\nü", "user": {"name": "x", "url": None}, "tags": []},
    {"id": 1, "text": "null", "user": {"name": "y"}, "tags": [{"i": [3, 1.5]}], "geo": {"x": {}}},
]
ODD = [
    {"a": [1, 2], "b": None, "c": {"d": 1}, "e.f": 1},
    {"a": "[1,2]", "c": 5, "b": 2},
    {"c": "", "b": 3, "a": 4},
]
CANADA = b'[{"at":[-65.613616999999977,43.420273000000009],"n":1.10,"e":1e2}]'
CI = b"""# at each push
on: [push]
since: 2024-02-29
jobs:
  test: &test {runs-on: linux, python: [3.10, "3.11"]}  # all of it
  again: *test
"""
EVENTS = {"_id": {"$oid": "507f1f77bcf86cd799439011"}, "raw": {"$binary": "AP8=", "$type": "00"}}

FILES: dict[str, bytes] = {
    "cars.json": json.dumps(CARS).encode(),
    "log.ndjson": b"".join(json.dumps(line).encode() + b"\n" for line in LOG),
    "penguins.json": json.dumps(CARS[::-1]).encode(),
    "twitter.json": json.dumps({"statuses": STATUSES, "meta": {"count": 2}}).encode(),
    "apache_builds.json": json.dumps({"jobs": [{"n": 1}, {"n": 2}], "mode": {}}).encode(),
    "citm_catalog.json": json.dumps({"m": {"a": {"b": 1}}, "v": [1, "x"]}).encode(),
    "weather.json": b'{"t":[1,2],"rain":[0,3]}',
    "census.json": b'[["name","n"],["x",1]]',
    "export.csv": b"name;price\nx;1,50\ny;00123\n",
    "airports.csv": b"iata,lat,since\n00M,31.95,2001-02-03\n012,-89.5,\n",
    "ci.yaml": CI,
    "pyproject.toml": b'# ours\n[project]\nname = "x"\nsize = 1.10\n',
    "canada.json.gz": gzip.compress(CANADA),
    "odd.json": json.dumps(ODD).encode(),
    "settings.json": b'{"a":null,"b":1}',
    "names.json": b'[{"name":"Ann"},{"name":"Bob","n":1}]',
    "broken.ndjson": b'{"a":1}\n{"a":\n{"a":3}\n',
    "x.msgpack": b"\x81\xa1v\x01\x81\xa1v\x02",
    "old.yaml": b"a: no\nb: 012\nc: 1:30\n",
    "day1.ndjson": b'{"a":1}\n',
    "mon.csv": b"n,t\n1,2024-01-01\n",
    "tue.csv": b"t,n\n2024-01-02,\n",
    "day2.ndjson": b'{"a":"x,y"}\n',
    "users.ndjson": b'{"id":1,"user":{"name":"ann","age":3}}\n{"user":{"name":"bob"},"id":2}\n',
    "old.csv": "1;é\n2;ü\n".encode("cp1252"),
}


def values(name: str) -> Callable[[Path], Any]:
    """The values in a file, as JSON has them."""

    def read(folder: Path) -> Any:
        text = (folder / name).read_text("utf-8")
        return [json.loads(x) for x in text.splitlines()] if ".nd" in name else json.loads(text)

    return read


def text(name: str) -> Callable[[Path], Any]:
    return lambda folder: (folder / name).read_text("utf-8")


def rows(name: str) -> Callable[[Path], Any]:
    """The rows of a table, by pyarrow."""

    def read(folder: Path) -> Any:
        import pyarrow.parquet

        return pyarrow.parquet.read_table(folder / name).to_pylist()

    return read


def array(name: str) -> Callable[[Path], Any]:
    """The items of an array, by NumPy; of one in an archive, by the name that NumPy gives it."""

    def read(folder: Path) -> Any:
        import numpy as np

        found = np.load(folder / name)
        if name.endswith(".npz"):
            with found:
                return found["arr_0"].tolist()
        return found.tolist()

    return read


def unpacked(name: str) -> Callable[[Path], Any]:
    return lambda folder: json.loads(gzip.decompress((folder / name).read_bytes()))


def read_by_all(folder: Path) -> Any:
    """The records of the container, which says how the source is read."""
    out = io.BytesIO()
    serialpack.convert(folder / "old.csv.spk", out, to="json")
    return json.loads(out.getvalue())


class Wanted:
    """What a command must say, and make. ``code``: its exit code."""

    def __init__(
        self, said: str, made: Callable[[Path], Any] | None, want: Any = None, code: int = 0
    ) -> None:
        self.said, self.made, self.want, self.code = said, made, want, code


OF_BSON = {"_id": {"$oid": "507f1f77bcf86cd799439011"}, "raw": "AP8="}
#: By the command's words, without its comment.
COMMANDS: dict[str, Wanted] = {
    "--to csv cars.json": Wanted(
        "4 carried: 3 values as bare cells, 1 null as a cell (back: -F csv --typed)",
        *(text("cars.csv"), "Name,Miles,Gears\na,18.0,5\nb,15,\n"),
    ),
    "--to csv log.ndjson": Wanted(
        "1 missing field as an empty cell",
        *(text("log.csv"), "at,ms,who\n2024-01-01T10:00:00Z,12,\nlater,7.5,ann\n"),
    ),
    "--to parquet log.ndjson": Wanted(
        "1 integer as a double", rows("log.parquet"), [LOG[0] | {"who": None}, LOG[1]]
    ),
    "--to parquet penguins.json": Wanted(
        "1 integer as a double", rows("penguins.parquet"), CARS[::-1]
    ),
    "--to csv --at statuses --null null --lossy around twitter.json": Wanted(
        "(back: -F csv --typed --nest --null null)", None
    ),
    "-F csv --to json --typed --nest --null null twitter.csv -o statuses.json": Wanted(
        "same values", values("statuses.json"), STATUSES
    ),
    "--to parquet apache_builds.json": Wanted(
        "it is one row: --at jobs takes the list in it as the records",
        *(rows("apache_builds.parquet"), [{"jobs": [{"n": 1}, {"n": 2}], "mode": "{}"}]),
    ),
    "--to parquet citm_catalog.json": Wanted(
        "1 value as JSON text (back: -F parquet --nest)",
        *(rows("citm_catalog.parquet"), [{"m": {"a": {"b": 1}}, "v": '[1,"x"]'}]),
    ),
    "--to csv --columnar weather.json": Wanted(
        "4 carried: 4 values as bare cells (back: -F csv --typed)",
        *(text("weather.csv"), "t,rain\n1,0\n2,3\n"),
    ),
    "--to parquet --header census.json": Wanted(
        "same values", rows("census.parquet"), [{"name": "x", "n": 1}]
    ),
    "--to json export.csv": Wanted(
        "delimiter ;",
        values("export.json"),
        [{"name": "x", "price": "1,50"}, {"name": "y", "price": "00123"}],
    ),
    "--infer --to parquet airports.csv": Wanted(
        "2 of 3 columns have types (back: the same bytes)",
        rows("airports.parquet"),
        [
            {"iata": "00M", "lat": 31.95, "since": date(2001, 2, 3)},
            {"iata": "012", "lat": -89.5, "since": None},
        ],
    ),
    "--to json ci.yaml": Wanted(
        "2 comments dropped",
        text("ci.json"),
        '{"on":["push"],"since":"2024-02-29","jobs":{'
        '"test":{"runs-on":"linux","python":[3.10,"3.11"]},'
        '"again":{"runs-on":"linux","python":[3.10,"3.11"]}}}\n',
    ),
    "--to yaml pyproject.toml": Wanted(
        "1 comment dropped", text("pyproject.yaml"), "project:\n  name: x\n  size: 1.10\n"
    ),
    "--to json canada.json.gz": Wanted(
        "same values", text("canada.json"), f"[\n{CANADA.decode()[1:-1]}\n]\n"
    ),
    "--to msgpack canada.json.gz": Wanted("same values", None),
    "--to json --indent 2 events.bson": Wanted(
        "1 BSON type as Extended JSON, 1 value of bytes as base64", values("events.json"), [OF_BSON]
    ),
    "--to csv --null null odd.json": Wanted("--typed --nest --separator / --null null)", None),
    "-F csv --to json --typed --nest --separator / --null null odd.csv -o even.json": Wanted(
        "same values", values("even.json"), ODD
    ),
    "--to json events.bson --tagged -o kept.json": Wanted(
        "same values",
        values("kept.json"),
        [OF_BSON | {"raw": {"$binary": {"base64": "AP8=", "subType": "00"}}}],
    ),
    "--to toml --lossy null settings.json": Wanted(
        "null: 1 changed, first in record 0, $.a", text("settings.toml"), "b = 1\n"
    ),
    "--strict --to csv names.json": Wanted("without --strict it is carried", None, code=4),
    "--to parquet broken.ndjson --skip-bad": Wanted(
        "left out: record 1 (byte 8)", rows("broken.parquet"), [{"a": 1}, {"a": 3}]
    ),
    "cat x.msgpack | serialpack unpack --from msgpack --to ndjson -": Wanted(
        '{"v":1}\n{"v":2}\n', None
    ),
    "--to yaml *.json -o folder/": Wanted(
        "names.json -> folder/names.yaml",
        *(text("folder/names.yaml"), "- name: Ann\n- name: Bob\n  'n': 1\n"),
    ),
    "--to json -F yaml:1.1 old.yaml": Wanted(
        "old.json", values("old.json"), {"a": False, "b": 10, "c": 90}
    ),
    "--to ndjson field.npy": Wanted("field.ndjson", values("field.ndjson"), [[1, 2], [3, 4]]),
    "--at mask arrays.npz -o mask.npy": Wanted("same values", array("mask.npy"), [1, 0]),
    "field.npy -o field.npz": Wanted("same values", array("field.npz"), [[1, 2], [3, 4]]),
    "--at run/field data.h5 -o run.npy": Wanted("same values", array("run.npy"), [1, 2]),
    "--infer cells.csv -o cells.npy": Wanted("2 of 3 columns", array("cells.npy"), [(1, 2.5, "x")]),
    "export.csv -o export.parquet": Wanted(
        "same values",
        *(
            rows("export.parquet"),
            [{"name": "x", "price": "1,50"}, {"name": "y", "price": "00123"}],
        ),
    ),
    "cat export.csv | serialpack unpack --to json": Wanted(
        '[\n{"name":"x","price":"1,50"},\n{"name":"y","price":"00123"}\n]\n', None
    ),
    "log.ndjson -o log.json.gz": Wanted("same values", unpacked("log.json.gz"), LOG),
    "day1.ndjson day2.ndjson -o days.csv": Wanted("same values", text("days.csv"), 'a\n1\n"x,y"\n'),
    "mon.csv tue.csv --infer -o week.parquet": Wanted(
        "2 of 2 columns have types",
        rows("week.parquet"),
        [{"n": 1, "t": date(2024, 1, 1)}, {"n": None, "t": date(2024, 1, 2)}],
    ),
    "--fields id,user.name users.ndjson -o -": Wanted(
        '{"id":1,"user":{"name":"ann"}}\n{"user":{"name":"bob"},"id":2}\n', None
    ),
    "serialpack pack --encoding cp1252 --no-header old.csv": Wanted(
        "delimiter ;, CP1252, no header",
        read_by_all,
        [{"column1": "1", "column2": "é"}, {"column1": "2", "column2": "ü"}],
    ),
}


def commands() -> list[str]:
    """The commands of the README, without their comments."""
    readme = (ROOT / "README.md").read_text("utf-8")
    found: list[str] = []
    for name in ("conversions", "words", "short"):
        part = re.search(rf"<!-- {name} -->\n(.*?)<!-- /{name} -->", readme, re.DOTALL)
        assert part is not None
        found += [line.partition(" #")[0].strip() for line in part[1].splitlines()]
    return found


def words_of(command: str) -> str:
    return command.removeprefix("serialpack unpack ")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the commands are about."""
    for library in ("pyarrow", "yaml", "bson", "numpy", "h5py"):
        pytest.importorskip(library)
    import numpy as np

    folder = tmp_path_factory.mktemp("conversions")
    for name, data in FILES.items():
        (folder / name).write_bytes(data)
    (folder / "cells.csv").write_bytes(b"a,b,c\n1,2.5,x\n")
    np.savez_compressed(folder / "arrays.npz", mask=np.array([1, 0], "u1"), a=np.zeros(3))
    (folder / "data.json").write_text('{"run/field": [1, 2], "other": [0.5]}')
    serialpack.convert(folder / "data.json", folder / "data.h5", to="hdf5")
    (folder / "data.json").unlink()
    np.save(folder / "field.npy", np.array([[1, 2], [3, 4]]))
    source = folder / "source.json"
    source.write_text(
        json.dumps({**EVENTS, "raw": {"$binary": {"base64": "AP8=", "subType": "00"}}})
    )
    serialpack.convert(source, folder / "events.bson", to="bson", tagged=True)
    source.unlink()
    return folder


def test_the_readme_has_these_commands() -> None:
    assert [words_of(command) for command in commands()] == list(COMMANDS)


def test_each_command_does_what_is_said(folder: Path) -> None:
    """In their order, as they stand: some read what those before them made."""
    wrong: list[tuple[str, Any, str]] = []
    for command in commands():
        done = run_line(command, folder)
        wanted = COMMANDS[words_of(command)]
        said = done.stderr.decode() + done.stdout.decode()
        if done.returncode != wanted.code or wanted.said not in said:
            wrong.append((command, done.returncode, said))
        elif wanted.made is not None and (made := wanted.made(folder)) != wanted.want:
            wrong.append((command, made, said))
    assert not wrong, "\n".join(map(str, wrong))
