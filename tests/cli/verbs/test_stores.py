"""Records into a store and out of it: ``unpack -o STORE``, ``--get``, ``pack`` and ``inspect``."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

import serialpack
from serialpack.stores.registry import store_kind
from tests.cli.conftest import Run
from tests.stores.kinds import ON_DISK

RECORDS = [{"id": f"key {n * 7 % 300:03}", "n": n, "text": "x" * (n % 9)} for n in range(300)]
LINES = b"".join(json.dumps(r, separators=(",", ":")).encode() + b"\n" for r in RECORDS)
ROOT = Path(__file__).parents[3]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "r.ndjson"
    path.write_bytes(LINES)
    return path


@ON_DISK
def test_records_go_in_and_come_out(
    tmp_path: Path, source: Path, run: Run, scheme: str, name: str
) -> None:
    """Under their numbers, in their order; the container and the conversion have the same."""
    url = f"{scheme}://{name}"
    done = run("unpack", source, "-o", url)
    assert b"300 values" in done.stderr
    assert b"same values" in done.stderr
    assert run("unpack", url, "-t", "ndjson", "-o", "-").stdout == LINES
    assert json.loads(run("unpack", url, "--get", "299", "-o", "-").stdout) == RECORDS[299]
    run("pack", url)
    assert run("unpack", f"{name}.spk", "-t", "ndjson", "-o", "-").stdout == LINES
    assert run("inspect", "--head", "2", url).stdout == b"".join(LINES.splitlines(True)[:2])
    with serialpack.store(f"{scheme}://{tmp_path}/{name}", "r") as store:
        assert dict(store.items()) == dict(enumerate(RECORDS))


@ON_DISK
def test_a_field_is_the_key(source: Path, run: Run, scheme: str, name: str) -> None:
    url = f"{scheme}://{name}"
    line = json.loads(run("unpack", source, "--key", "id", "-o", url, "--json").stdout)
    assert (line["records"], line["duplicates"], line["target"]) == (300, 0, url)
    assert json.loads(run("unpack", url, "--get", "key 007").stdout)["id"] == "key 007"
    facts = json.loads(run("inspect", "--json", url).stdout)
    assert (facts["values"], facts["text_keys"], facts["integer_keys"]) == (300, 300, 0)
    assert (facts["keys"], facts["field"], facts["format"]) == ("field", "id", "ndjson")
    assert (facts["stored"], facts["size"]) == (line["stored"], line["size"])
    assert facts["chain"] == line["chain"] == "msgpack+zstd:3"
    shown = run("inspect", url).stdout.decode()
    assert re.search(r"keys +field id; 300 text, 0 integers", shown)
    assert re.search(r"\nformat +ndjson\n", shown)
    found = run("unpack", url, "-t", "ndjson", "-o", "-").stdout.splitlines()
    assert sorted(found) == sorted(LINES.splitlines())


@pytest.mark.parametrize(("which", "kept"), [("first", 0), ("last", 290)])
def test_duplicate_keys_are_refused_or_told(
    tmp_path: Path, run: Run, which: str, kept: int
) -> None:
    path = tmp_path / "d.ndjson"
    path.write_bytes(b"".join(b'{"k":%d,"n":%d}\n' % (n % 10, n) for n in range(300)))
    url = "sqlite-kv://d.db"
    done = run("unpack", path, "--key", "k", "-o", url, code=4)
    assert b"record 10: the key 0 is that of a record before; --duplicates" in done.stderr
    assert not (tmp_path / "d.db").exists()
    done = run("unpack", path, "--key", "k", "--duplicates", which, "-o", url)
    assert b"290 left out" in done.stderr
    assert json.loads(run("unpack", url, "--get", "0").stdout) == {"k": 0, "n": kept}


@pytest.mark.parametrize(
    ("serializer", "codec"),
    [("json", "lz4"), ("cbor", "none"), ("bson", "zstd:1"), ("pickle", "zstd"), ("xml", "xz")],
)
def test_values_by_any_chain(source: Path, run: Run, serializer: str, codec: str) -> None:
    url, trust = "sqlite-kv://c.db", ("--trust",) * (serializer == "pickle")
    run("unpack", source, "-s", serializer, "-c", codec, "-o", url, *trust)
    assert run("unpack", url, "-t", "ndjson", "-o", "-", *trust).stdout == LINES
    if trust:
        assert b"--trust" in run("unpack", url, "-t", "ndjson", "-o", "-", code=4).stderr


def test_own_keys_are_in_what_is_packed(tmp_path: Path, run: Run) -> None:
    with serialpack.store(f"sqlite-kv://{tmp_path}/o.db") as store:
        store.update({"a": [1, 2.5], 7: None})
    found = run("unpack", "sqlite-kv://o.db", "-t", "ndjson", "-o", "-").stdout
    assert found == b'{"key":"a","value":[1,2.5]}\n{"key":7,"value":null}\n'
    with serialpack.store(f"sqlite-kv://{tmp_path}/o.db") as store:
        store["t"] = (1,)
    done = run("pack", "sqlite-kv://o.db", "-o", "o.spk", code=4)
    assert b"the value of the key 't'" in done.stderr
    assert not (tmp_path / "o.spk").exists()


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"a,b\n1,x\n", {"a": "1", "b": "x"}),
        (b'[{"n": 123456789012345678901234567890}]', {"n": 123456789012345678901234567890}),
        (b'{"one": "document"}', {"one": "document"}),
    ],
    ids=["csv", "too-large-for-msgpack", "document"],
)
def test_what_is_no_ndjson_from_a_pipe(run: Run, data: bytes, value: object) -> None:
    form = "csv" if data.startswith(b"a,") else "json"
    run("unpack", "-F", form, "-o", "sqlite-kv://p.db", stdin=data)
    assert json.loads(run("unpack", "sqlite-kv://p.db", "--get", "0").stdout) == value


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (("--key", "nope", "-o", "lmdb://x"), 4, "record 0 has no field nope"),
        (("--key", "text.a", "-o", "sqlite-kv://x"), 4, "record 0 has no field text.a"),
        (("-o", "sqlite-kv://"), 2, "has no path"),
        (("-o", "tokyocabinet://x.db"), 2, "tokyocabinet://NAME.tch"),
        pytest.param(
            *(("-o", "tokyocabinet://*"), 2, "in memory"),
            marks=pytest.mark.skipif(
                store_kind("tokyocabinet").missing() is not None, reason="no Tokyo Cabinet here"
            ),
        ),
        (("-o", "sqlite-kv://r.ndjson"), 1, "exists already; -f overwrites it"),
        (("-o", "sqlite-kv://no/x"), 1, "folder"),
        (("-s", "columns", "-o", "sqlite-kv://x"), 2, "does not hold a value by itself"),
        (("--rm", "-o", "sqlite-kv://x"), 2, "goes without --rm"),
        (("--key", "id", "-o", "x.json"), 2, "-o sqlite-kv://FILE.db"),
        (("--key", "id", "-o", "s3://b/x.json"), 2, "-o sqlite-kv://FILE.db"),
        (("--get", "id"), 2, "takes a value out of a store"),
    ],
)
def test_what_cannot_be_is_one_line(
    tmp_path: Path, source: Path, run: Run, args: tuple[str, ...], code: int, words: str
) -> None:
    before = {*tmp_path.iterdir()}
    assert words in run("unpack", source, *args, code=code).stderr.decode()
    assert {*tmp_path.iterdir()} == before


def test_a_key_or_a_store_that_is_not_there(source: Path, run: Run) -> None:
    run("unpack", source, "-o", "sqlite-kv://s.db")
    done = run("unpack", "sqlite-kv://s.db", "--get", "300", code=1)
    assert b"s.db: there is no key '300'" in done.stderr
    for verb in (("inspect",), ("pack",), ("unpack", "-t", "json")):
        assert b"there is no such store" in run(*verb, "sqlite-kv://none.db", code=1).stderr
        assert b"is no SQLite store" in run(*verb, f"sqlite-kv://{source}", code=3).stderr
    assert b"not stores" in run("pack", "--rm", "sqlite-kv://s.db", code=2).stderr


def test_bench_in_a_store(run: Run) -> None:
    """A table of serializers; and the curves of one object, whose size grows."""
    args = ("bench", "--store", "sqlite-kv", "-s", "json", "-s", "pickle", "-c", "none", "--json")
    found = json.loads(run(*args, "--sample", "contacts:20").stdout)
    assert {row["status"] for row in found["rows"]} == {"measured"}
    assert {row["chain"] for row in found["rows"]} == {"json+none", "pickle:5+none"}
    swept = json.loads(run(*args, "--sample", "target-object", "--sweep", "10:30:10").stdout)
    sizes = [row["size"] for row in swept["rows"] if row["chain"] == "json+none"]
    assert [row["n"] for row in swept["rows"]] == [10, 10, 20, 20, 30, 30]
    assert sizes == sorted({*sizes})


def test_its_file_and_its_url_are_told_with_commands_that_work(source: Path, run: Run) -> None:
    """The rows of the file were keys and values in base64, and of the URL an output was advised."""
    run("unpack", source, "-o", "sqlite-kv://k.db")
    said = run("unpack", "k.db", "-t", "ndjson", "-o", "-", code=4).stderr.decode()
    (url,) = re.findall(r"sqlite-kv://\S+", said)
    assert run("unpack", url, "-t", "ndjson", "-o", "-").stdout == LINES
    assert run("unpack", "k.db", "--table", "records", "-t", "ndjson", "-o", "-").stdout
    run("unpack", "k.db", "-t", "sqlite", "-o", "copy.db")
    for words in ((url,), ("-N", url)):
        said = run("unpack", *words, code=1).stderr.decode()
        (command,) = re.findall("serialpack: .*; (unpack .*) writes its values", said)
        assert run(*shlex.split(command), "-o", "-").stdout == LINES


@pytest.mark.parametrize("page", ["README.md", "docs/stores.md"])
def test_examples(
    tmp_path: Path, source: Path, run: Run, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the pages say of stores is so: each command, and each piece of Python, one after
    another in one folder."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / page).read_text("utf-8")
    commands = re.findall(
        r"^    serialpack (unpack|pack|inspect) (.*sqlite-kv://.*?)(?:  #.*)?$", text, re.M
    )
    assert commands
    for verb, args in commands:
        words = args.replace("people.ndjson", source.name).replace("ada", "key 007")
        run(verb, *shlex.split(words))
    python = [
        block for block in re.findall(r"```python\n(.*?)```", text, re.S) if "store(" in block
    ]
    assert python
    for block in python:
        exec(block, {})


def test_a_file_of_a_store_is_looked_at_as_one(source: Path, run: Run) -> None:
    """--head gave its rows, which are packed; and without it, its one table."""
    run("unpack", source, "--key", "id", "-o", "sqlite-kv://s.db")
    first = LINES.splitlines(True)[0]
    assert run("inspect", "--head", "1", "s.db").stdout == first
    assert run("inspect", "s.db").stdout == run("inspect", "sqlite-kv://s.db").stdout
    facts = json.loads(run("inspect", "--json", "s.db").stdout)
    assert (facts["source"], facts["values"]) == ("s.db", 300)
    assert b"  value  bytes" in run("inspect", "-F", "sqlite", "s.db").stdout
    done = run("inspect", "--blocks", "s.db")
    assert done.stderr == b"s.db: --blocks tells of containers; this is a store\n"
