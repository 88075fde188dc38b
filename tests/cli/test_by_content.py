"""Standard input and unnamed files are read as what they surely are; else --from is named."""

from __future__ import annotations

import json
import re
from pathlib import Path

import cbor2
import msgpack
import pytest

from serialpack.detection.by_content import recognised
from tests.cli.conftest import Run

RECORD = {"id": 1, "name": "Zoë", "tags": ["a", "b"]}

#: What is long goes on behind what is looked at.
SURE = {
    "csv": b"id,name\n1,Ann\n2,Bob\n",
    "csv, quoted": b'id,"a ""name"""\r\n1,"x, y"\r\n2,"two\r\nlines"\r\n',
    "csv, marked": b"\xef\xbb\xbfid,name\n1,Ann\n",
    "tsv": b"id\tname\n1\tAnn\n2\tBob\n",
    "csv:semicolon": b"id;name\n1;Ann\n2;3,5\n",
    "csv:pipe": b"id|name\n1|Ann\n",
    "yaml": b"# settings\nname: site\nports:\n- 80\n- 443\nsub:\n  deep: [1, 2]\n",
    "yaml, list": b"- a\n- b: 1\n  c: 2\n",
    "yaml, documents": b"%YAML 1.2\n---\na: 1\n---\na: 2\n",
    "yaml, one line": b"a: 1\n",
    "yaml, list of odd keys": b'- $ref: a\n- a b c: 1\n- "a(b): c": d\n- e f(g)\n- {h: 1}\n',
    "toml": b'[package]\nname = "x"\nversion = "1.0"\n',
    "json, JSON5": b"// a\n{id: 1, name: 'Zo\xc3\xab', tags: ['a', 'b',]}\n",
    "json, several": b'{"a":1}{"b":2}',
    "json, several on lines": b'{\n  "a": 1\n}\n{\n  "b": [2]\n}\n',
    "xml": b"<a><b/></a>",
    "xml, behind a comment": b"\xef\xbb\xbf<!-- of whom -->\n<project><id>1</id></project>\n",
    "xml, a picture": b'<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"/></svg>',
    "typed-xml": b"<list><int>1</int></list>",
    "msgpack": msgpack.packb(RECORD),
    "msgpack, several": b"".join(msgpack.packb({**RECORD, "id": n}) for n in range(300)),
    "msgpack, long": b"".join(msgpack.packb({**RECORD, "id": n}) for n in range(4000)),
    "msgpack, long array": msgpack.packb([{**RECORD, "id": n} for n in range(4000)]),
    "cbor": cbor2.dumps(RECORD),
    "cbor, several": b"".join(cbor2.dumps({**RECORD, "id": n}) for n in range(300)),
    "cbor, long": b"".join(cbor2.dumps({**RECORD, "id": n}) for n in range(4000)),
    "cbor, long array": cbor2.dumps([{**RECORD, "id": n} for n in range(4000)]),
    "csv, long": b"id,name\n" + b"".join(b"%d,n%d\n" % (n, n) for n in range(8500)),
    "xml, long": b"<a>" + b"".join(b"<b>%d</b>" % n for n in range(9000)) + b"</a>",
    "yaml, long": b"".join(b"- id: %d\n  name: n%d\n" % (n, n) for n in range(4000)),
}

#: In words, where it is more than the name.
READ_AS = {
    "json, JSON5": "JSON5",
    "json, several": "a list of JSON values one after another",
    "json, several on lines": "a list of JSON values one after another",
}


@pytest.mark.parametrize("kind", SURE)
def test_what_is_sure_is_read(run: Run, tmp_path: Path, kind: str) -> None:
    """As it is with --from, told in one line; from a pipe, and from a file of any other name."""
    data, name = SURE[kind], kind.partition(",")[0]
    said = run("unpack", "--from", name, "--to", "json", stdin=data).stdout
    done = run("unpack", "--to", "json", stdin=data)
    assert done.stdout == said
    words = READ_AS.get(kind, name)
    assert f"it was read as {words}, by its content" in done.stderr.decode()
    (tmp_path / "a.dat").write_bytes(data)
    assert run("unpack", "--to", "json", "a.dat", "-o", "-").stdout == said
    inspected = json.loads(run("inspect", "--json", "a.dat").stdout)
    if inspected["format"] == "bytes":  # as pack takes it
        assert inspected["looks_like"].endswith(f" ({name} by its content)")
    run("unpack", "-o", "b.json", stdin=data)
    assert (tmp_path / "b.json").read_bytes() == said


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", ["csv", "csv:pipe", "yaml", "toml", "xml", "cbor"])
def test_the_first_records_are_of_what_it_is(
    run: Run, tmp_path: Path, kind: str, packed: bool
) -> None:
    """A table called .txt had none that could be told apart."""
    (tmp_path / "a.txt").write_bytes(SURE[kind])
    (tmp_path / "b").write_bytes(SURE[kind])
    run("pack", "a.txt")
    shown = run("inspect", "--head", "1", "a.txt.spk" if packed else "a.txt").stdout
    assert shown
    assert shown == run("inspect", "--head", "1", "--from", kind, "b").stdout


def test_a_table_in_another_encoding_is_read_by_that(run: Run, tmp_path: Path) -> None:
    """Its lines were to be read as one column by --from csv, which did not read them."""
    (tmp_path / "a.txt").write_bytes("Straße;Größe\nÄ;1\n".encode("cp1252"))
    said = run("unpack", "--to", "json", "a.txt", "-o", "-", code=3).stderr.decode()
    (option,) = re.findall(r"--encoding \w+", said)
    made = run("unpack", "--to", "json", "a.txt", *option.split(), "-o", "-").stdout
    assert json.loads(made) == [{"Straße": "Ä", "Größe": "1"}]


#: What two formats read, or what only a person can take for one: with the --from that reads it.
UNSURE = {
    "one row": (b"a,b\n", None),
    "numbers": (b"1,2\n3,4\n", "csv"),
    "names twice": (b"a,a\n1,2\n", "csv"),
    "prose": (b"Hello, you\nand, me\n", "csv"),
    "two delimiters": (b"a,b;c\n1,2;3\n", "csv"),
    "both empty": (b"\x80", "msgpack"),
    "text": (b"nothing of the kind\n", None),
    "HTML": (b"<p>one<br>two</p>", "xml"),
    "HTML behind a comment": (b"<!-- a page --><HTML><p>one</p></HTML>", "xml"),
    "XML with entities": (b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "xml"),
    "elements that break off": (b"<a><b>", "xml"),
    "a log": (b"12:00 started: all well\n12:01 ended: all well\n", "csv"),
    "a log with dashes": (b"- 17 host (pam)[2]: shut\n- 18 host sm[3]: [a.c:1]: open\n", "csv"),
    "N-Triples": (b'<http://a.org/b> <http://a.org/c> "d" .\n', None),
    "keys in each row": (b"a=1,b=2\na=3,b=4\n", "csv"),
    "code": (b"import sys\n\nfor x in range(3):\n    print(x)\n", None),
    "JSON5 and more": (b'// a\n{"a": 1,}}\n', "json"),
    "noise": (bytes(range(1, 255)), None),
    "numbers of MessagePack": (b"\x01\x02\x03", None),
    "UTF-16": ("a,b\n1,2\n".encode("utf-16"), "csv"),
    "bson": (b"\x0c\0\0\0\x10a\0\1\0\0\0\0", "bson"),
    "a makefile": (b"all: b\n\tcc -o b\n", "csv"),
}


@pytest.mark.parametrize("kind", UNSURE)
def test_what_is_not_sure_says_which_from_to_give(run: Run, kind: str) -> None:
    """In one line; a --from that is named reads it, and what has none can be packed."""
    data, name = UNSURE[kind]
    (line,) = run("unpack", "--to", "json", stdin=data, code=3).stderr.decode().splitlines()
    named = re.findall(r"--from ([a-z:]+)", line)
    assert named == [] if name is None else name in named
    assert ("--from " if name else "pack keeps its bytes") in line
    if name not in (None, "csv", "xml", "bson", "json"):  # whose values may be what is wrong
        assert name is not None
        run("unpack", "--from", name, "--to", "json", stdin=data)


#: What a name says that cannot be, and what the text surely is; None: as the name says.
MISNAMED = {
    "a.csv": (b'{"id":1,"s":"x"}\n{"id":2,"s":"y"}\n', "ndjson"),
    "b.csv": (b'[{"id":1},\n{"id":2}]\n', "json"),
    "c.tsv": (b'<?xml version="1.0"?>\n<r><id>1</id></r>\n', "xml"),
    "d.json": (b"id,name\n1,Ann\n2,Bob\n", "csv"),
    "e.json": (b"id;name\n1;Ann\n2;3,5\n", "csv:semicolon"),
    "f.ndjson": (b"id: 1\nlist:\n- a\n", "yaml"),
    "g.xml": (b'{"id": {"s": 1}}', "json"),
    "h.toml": (b'{"id": {"s": 1}}', "json"),
    "i.csv": (b"[a],b\n1,2\n", None),
    "j.csv": (b"{1}\n{2}\n", None),
    "k.json": (b"3\n", None),
    "l.json": (b"// id,name\n{id: 1, name: 2}\n", None),
    "m.csv": (b"[1\n2\n", None),
}


@pytest.mark.parametrize("name", MISNAMED)
def test_what_has_a_wrong_name_is_read_as_what_it_is(run: Run, tmp_path: Path, name: str) -> None:
    """Lines of JSON were read as a table, and a table told to be no JSON."""
    data, found = MISNAMED[name]
    (tmp_path / name).write_bytes(data)
    named = ["--from", found or name.partition(".")[2]]
    said = run("unpack", *named, "--to", "yaml", stdin=data).stdout
    done = run("unpack", "--to", "yaml", name, "-o", "-")
    assert done.stdout == said
    assert (f"it was read as {found}, by its content" in done.stderr.decode()) == (
        found is not None
    )


def test_a_binary_file_with_the_name_of_a_text_is_read(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "a.csv").write_bytes(b"id,name\n1,Ann\n")
    run("unpack", "a.csv", "-o", "a.parquet")
    (tmp_path / "a.parquet").rename(tmp_path / "b.csv")
    done = run("unpack", "--to", "json", "b.csv", "-o", "-")
    assert json.loads(done.stdout) == [{"id": "1", "name": "Ann"}]
    assert b"it was read as parquet, by its content" in done.stderr


@pytest.mark.parametrize("name", ["a.json", "a.csv", "a.ndjson"])
def test_a_page_that_was_saved_in_place_of_data_is_told(
    run: Run, tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_bytes(b"<!DOCTYPE html>\n<html><h1>404, not found</h1></html>\n")
    (line,) = run("unpack", "--to", "yaml", name, code=3).stderr.decode().splitlines()
    assert "HTML: not a data format" in line


def test_every_file_that_is_packed_stays_what_it_was(run: Run, tmp_path: Path) -> None:
    """``pack`` goes by names and first bytes alone: its output does not depend on a guess."""
    (tmp_path / "a.dat").write_bytes(SURE["csv"])
    run("pack", "a.dat")
    found = json.loads(run("inspect", "--json", "a.dat.spk").stdout)
    assert found["members"][0]["format"] == "bytes"


def test_options_that_only_tables_have_say_that_it_is_one(run: Run) -> None:
    done = run("unpack", "--to", "json", "--no-header", stdin=b"1,2\n3,4\n")
    assert json.loads(done.stdout) == [
        {"column1": "1", "column2": "2"},
        {"column1": "3", "column2": "4"},
    ]


def test_a_part_of_one_format_is_never_taken_for_another() -> None:
    """Wherever it ends: the format itself, or nothing that is sure."""
    wrong: list[tuple[str, int, str | None]] = []
    for kind, data in SURE.items():
        name = kind.partition(",")[0]
        for size in (*range(1, min(len(data), 60)), 200, 4000, 30_000):
            found = recognised(data[:size], whole=True).format
            if found not in (None, name):
                wrong.append((kind, size, found))
        if kind.endswith(("long", "long array")):
            found = recognised(data[: 64 << 10], whole=False).format
            if found != name:
                wrong.append((kind, 64 << 10, found))
    assert not wrong


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.json", '[{"a":1},\n{"a":2}]'), ("a", "[1,\n2]"), ("a.yaml", "a: 1\nb: 2\n")],
)
def test_a_delimiter_makes_no_table_of_other_formats(
    run: Run, tmp_path: Path, name: str, text: str
) -> None:
    """Between semicolons all text is a table, but nobody means that by it."""
    path = tmp_path / name
    path.write_text(text)
    done = run("unpack", "--to", "csv", "--delimiter", ";", path, "-o", "-", code=2)
    assert not done.stdout
    assert b"--delimiter is for what is read as CSV, not for" in done.stderr
    run("unpack", "--from", "csv", "--to", "json", "--delimiter", ";", path, "-o", "-")


@pytest.mark.parametrize("line", ['{"a":2}{"a":3}', '{"a":2,}', '{"a":2} // two'])
def test_lines_that_are_no_json_are_made_json_by_the_command_that_is_named(
    run: Run, tmp_path: Path, line: str
) -> None:
    """Where the first line is one, which tells lines of JSON."""
    path = tmp_path / "a.ndjson"
    path.write_text('{"a":1}\n' + line + "\n")
    failed = run("unpack", "--to", "csv", path, "-o", "-", code=3)
    command = "serialpack unpack -F json FILE -o NEW.json"
    assert f"; {command} makes JSON of it".encode() in failed.stderr
    new = tmp_path / "new.json"
    words = [{"FILE": str(path), "NEW.json": str(new)}.get(w, w) for w in command.split()[1:]]
    run(*words)
    assert json.loads(new.read_text())[:2] == [{"a": 1}, {"a": 2}]
