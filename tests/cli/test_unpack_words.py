"""``--fields`` alone, fields that nobody has, ``--ascii``, and what the help lists."""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgpack
import pytest

from serialpack.cli.app import VERBS
from serialpack.conversion.losses.rules import RULES
from serialpack.conversion.targets.writers import written
from serialpack.formats import FORMATS
from serialpack.stores.registry import STORES
from tests.cli.conftest import Run


@pytest.mark.parametrize(
    ("name", "data", "kept"),
    [
        ("a.json", b'[{"a":1,"b":2},{"a":3}]', b'[\n{"a":1},\n{"a":3}\n]\n'),
        ("a.ndjson", b'{"a":1,"b":2}\n{"a":3}\n', b'{"a":1}\n{"a":3}\n'),
        ("a.csv", b"a,b\n1,2\n", b"a\n1\n"),
        ("a.csv", b"a;b;c\n1;2;3\n", b"a\n1\n"),
        ("a.tsv", b"b\ta\n2\t1\n", b"a\n1\n"),
        ("a.yaml", b"a: 1\nb: 2\n", b"a: 1\n"),
        ("a.toml", b"a = 1\nb = 2\n", b"a = 1\n"),
        ("a.msgpack", msgpack.packb({"a": 1, "b": 2}), msgpack.packb({"a": 1})),
    ],
)
def test_fields_alone_keep_the_format(
    run: Run, tmp_path: Path, name: str, data: bytes, kept: bytes
) -> None:
    """Of a file, of a container, of a pipe whose content says what it is or is said to."""
    (tmp_path / name).write_bytes(data)
    assert run("unpack", "--fields", "a", name, "-o", "-").stdout == kept
    assert run("unpack", "--fields", "a", "-F", name[2:], stdin=data).stdout == kept
    assert run("unpack", "--fields", "a", stdin=data).stdout == kept
    run("pack", name)
    assert run("unpack", "--fields", "a", f"{name}.spk", "-o", "-").stdout == kept
    container = (tmp_path / f"{name}.spk").read_bytes()
    assert run("unpack", "--fields", "a", stdin=container).stdout == kept
    done = run("unpack", "--fields", "a", name, code=1)
    assert b"is the input itself" in done.stderr
    assert (tmp_path / name).read_bytes() == data
    run("unpack", "--fields", "a", name, "-o", "out/")
    assert (tmp_path / "out" / name).read_bytes() == kept


def test_fields_alone_of_several_formats(run: Run, tmp_path: Path) -> None:
    """Each its own, also where processes convert them."""
    for number in range(40):
        (tmp_path / f"{number}.json").write_bytes(b'{"a":%d,"b":0}' % number)
        (tmp_path / f"{number}.csv").write_bytes(b"a,b\n%d,0\n" % number)
    names = [f"{n}.{x}" for n in range(40) for x in ("json", "csv")]
    run("unpack", "--fields", "a", *names, "-o", "out")
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == sorted(names)
    assert json.loads((tmp_path / "out/7.json").read_bytes()) == {"a": 7}
    assert (tmp_path / "out/7.csv").read_bytes() == b"a\n7\n"


def test_fields_of_what_has_no_records_are_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.dat").write_bytes(b"nothing known")
    said = run("unpack", "--fields", "a", "a.dat", code=3).stderr
    assert b"there are no records in it that are known (text); pack keeps its bytes" in said


@pytest.mark.parametrize("packed", [False, True])
def test_a_field_that_no_record_has_is_refused(run: Run, tmp_path: Path, packed: bool) -> None:
    """Also beside others that are there; --lossy fields goes on without, and counts them."""
    lines = b"".join(b'{"a":%d,"b":{"c":%d}}\n' % (n, n) for n in range(3000))
    (tmp_path / "a.ndjson").write_bytes(lines)
    name = "a.ndjson"
    if packed:
        run("pack", "-s", "columns", name)
        name = "a.ndjson.spk"
    done = run("unpack", "--fields", "a,nme", name, "-o", "b.ndjson", code=4)
    assert b"no record has a field nme; --lossy fields" in done.stderr
    done = run("unpack", "--fields", "a,nme,b.d", name, "-o", "b.csv", code=4)
    assert b"no record has a field nme or b.d" in done.stderr
    assert b"--lossy fields" in done.stderr
    assert not (tmp_path / "b.ndjson").exists()
    assert not (tmp_path / "b.csv").exists()
    args = ["unpack", "--fields", "a,nme,x.d", name, "-o", "b.ndjson", "--json"]
    done = run(*args, "--lossy", "fields")
    (line,) = map(json.loads, done.stdout.splitlines())
    assert line["missing"] == ["nme", "x.d"]
    assert [(loss["rule"], loss["count"]) for loss in line["losses"]] == [("fields", 2)]
    assert b"no record has a field nme" in done.stderr
    assert b'{"a":7}\n' in (tmp_path / "b.ndjson").read_bytes()
    run("unpack", "--fields", "x", name, "-o", "c.ndjson", code=4)
    assert run("unpack", "--fields", "x", "-F", "ndjson", stdin=b"").stdout == b""


TEXT = {"key é": ["naïve", "\U0001f600 and \u2028", "plain", "\ud7ff\ue000"], "n": 1.5}


@pytest.mark.parametrize(
    ("to", "options"),
    [("json", []), ("ndjson", []), ("json", ["--indent", "2"]), ("json", ["--tagged"])],
)
def test_ascii_escapes_in_json(run: Run, tmp_path: Path, to: str, options: list[str]) -> None:
    """The same values in ASCII alone, of one record and of many, whatever the source."""
    raw = json.dumps(TEXT, ensure_ascii=False).encode()
    sources = {
        "a.json": raw,
        "b.ndjson": (raw + b"\n") * 3000,
        "d.msgpack": msgpack.packb(TEXT) * 2,
    }
    for name, data in sources.items():
        (tmp_path / name).write_bytes(data)
        plain = run("unpack", "--to", to, *options, name, "-o", "-").stdout
        done = run("unpack", "--to", to, "--ascii", *options, name, "-o", "-").stdout
        assert done.isascii()
        assert not plain.isascii()
        assert rb"\u00e9" in done
        assert rb"\ud83d\ude00" in done
        lines = to == "ndjson"
        assert [json.loads(x) for x in (done.split(b"\n")[:-1] if lines else [done])] == [
            json.loads(x) for x in (plain.split(b"\n")[:-1] if lines else [plain])
        ]
    run("pack", "a.json")
    assert run("unpack", "--to", "json", "--ascii", "a.json.spk", "-o", "-").stdout.isascii()
    kept = run("unpack", "--ascii", "a.json.spk", "-o", "e.json")
    assert kept.returncode == 0
    assert (tmp_path / "e.json").read_bytes().isascii()


@pytest.mark.parametrize("to", sorted(set(written()) - {"json", "ndjson"}))
def test_ascii_is_for_json_alone(run: Run, to: str) -> None:
    done = run("unpack", "--to", to, "--ascii", stdin=b'{"a":1}', code=2)
    assert f"--ascii is for json and ndjson, not {to}" in done.stderr.decode()


def test_the_help_of_unpack_lists_formats_and_losses(run: Run) -> None:
    """All there are, each where it belongs; and it still fits (test_generated.py)."""
    text = run("unpack", "--help").stdout.decode()
    tail = " ".join(text.partition("-h, --help")[2].split())
    found = re.search(r"Formats, .*?: (.*) Only read: (.*) Losses: (.*) Stores: (.*)", tail)
    assert found is not None
    targets, only_read, losses, stores = (part.split(", ") for part in found.groups())
    assert targets == written()
    assert sorted(targets + only_read) == sorted(d.name for d in FORMATS.sources() if d.number)
    assert {"fields", "digits", "nan", "all"} <= set(losses)
    assert set(losses) - {"all"} == {name for name, rule in RULES.items() if rule.is_loss}
    assert not set(losses) & {"comments", "cells", "bytes"}
    assert stores == [f"{name}://PATH" for name in STORES]


def test_the_help_tells_what_each_verb_does(run: Run) -> None:
    shown = run("--help").stdout.decode()
    for verb in VERBS:
        (does,) = re.findall(rf"^{verb} +(\S.*)$", shown, re.MULTILINE)
        assert run(verb, "--help").stdout.decode().count(does) == 1
        assert f"\nserialpack {verb} " in shown


@pytest.mark.parametrize("to", ["json", "ndjson", "yaml", "msgpack"])
def test_flatten_is_not_left_undone_where_nothing_is_flattened(
    run: Run, tmp_path: Path, to: str
) -> None:
    """It was ignored, and maps stayed maps; the way that is named has the keys."""
    (tmp_path / "a.json").write_bytes(b'{"a":{"b":1}}')
    done = run("unpack", "--to", to, "--flatten", "a.json", "-o", "-", code=2)
    assert f"--flatten is for parquet and arrow, not {to}; --to csv" in done.stderr.decode()
    table = run("unpack", "--to", "csv", "--flatten", "a.json", "-o", "-").stdout
    way = ["-F", "csv", "--typed", "--to", "ndjson", "-o", "-"]
    assert run("unpack", *way, stdin=table).stdout == b'{"a.b":1}\n'


def test_what_is_only_known_is_not_written(run: Run, tmp_path: Path) -> None:
    """It was said that it is not read, with the command that reads it."""
    (tmp_path / "a.json").write_bytes(b'{"a":1}')
    done = run("unpack", "--to", "plist", "a.json", code=2)
    assert b"--to: plist is not written; serialpack unpack --help lists" in done.stderr
