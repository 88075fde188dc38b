"""Text that is known and not converted, and outputs called as what nothing here writes."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.cli.told import lines

_INI = b"; made by hand\n[db]\nhost = localhost\n\n[web]\ndebug = true\n"


@pytest.mark.parametrize(
    ("name", "data", "words", "parser"),
    [
        ("a.ini", _INI, "INI or properties", "ini"),
        (
            "a.properties",
            b"# made\nserver.port=8080\nspring.name=app\n",
            "INI or properties",
            "ini",
        ),
        (".editorconfig", b"root = true\n\n[*.{py,js}]\nindent = 2\n", "INI or properties", "ini"),
        (".gitmodules", b'[submodule "a"]\n\tpath = a\n', "INI or properties", "ini"),
        (".env", b"MODE=production\n", "INI or properties", "ini"),
        (
            "access.log",
            b'127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.0" 200 2326\n',
            "the log of a web server",
            "clf",
        ),
        ("a.md", b"| a | b |\n|---|:--|\n| 1 | 2 |\n", "a table of Markdown", "asciitable"),
        (
            "b.plist",
            b"bplist00\xd1\x01\x02Qa\x10\x01\x08\x0b\x0d",
            "a binary property list",
            "plist",
        ),
    ],
)
@pytest.mark.parametrize("piped", [False, True])
def test_what_jc_reads_is_told_with_its_parser(
    run: Run, tmp_path: Path, name: str, data: bytes, words: str, parser: str, *, piped: bool
) -> None:
    """Each was told to be text, or bytes, with --from csv, which makes one column of its lines."""
    (tmp_path / name).write_bytes(data)
    source = "-" if piped else name
    (line,) = lines(run("unpack", source, "--to", "json", stdin=data, code=3).stderr)
    assert line.endswith(
        f": {words}: known, but not read here; jc --{parser} <FILE >NEW.json makes JSON of it"
    )


@pytest.mark.parametrize(
    ("name", "data", "words", "records"),
    [
        (
            "app.log",
            b'level=info msg="x y" n=1\nlevel=warn msg=z n=\n',
            "logfmt",
            [{"level": "info", "msg": "x y", "n": "1"}, {"level": "warn", "msg": "z", "n": ""}],
        ),
        (
            "a.geojsons",
            b'\x1e{"a":\n1}\n\x1e{"a":2}\n',
            "a JSON text sequence",
            [{"a": 1}, {"a": 2}],
        ),
    ],
)
def test_what_one_command_makes_json_of_is_told_with_it(
    run: Run, tmp_path: Path, name: str, data: bytes, words: str, records: list[Any]
) -> None:
    """The one was INI, of which jc makes one map, and the other bytes."""
    (tmp_path / name).write_bytes(data)
    (line,) = lines(run("unpack", name, "--to", "json", code=3).stderr)
    assert f": {words}: known, but not read here; " in line
    command, _, new = line.partition("not read here; ")[2].partition(" <FILE >")
    program = [word.replace("python3", sys.executable) for word in shlex.split(command)]
    made = subprocess.run(program, input=data, capture_output=True, check=True).stdout
    into = new.partition(" makes ")[0]
    (tmp_path / into).write_bytes(made)
    run("unpack", into, "--to", "ndjson", "-o", "out.ndjson")
    found = (tmp_path / "out.ndjson").read_bytes().splitlines()
    assert list(map(json.loads, found)) == records


@pytest.mark.parametrize("data", [b"# c\nexport A=1\nexport B=\n", b"A=1\nexport B=2\n"])
def test_variables_of_a_shell_are_told_with_what_takes_off_the_word(run: Run, data: bytes) -> None:
    """They were text, of which --from csv makes one column; by jc alone keys begin with it."""
    (line,) = lines(run("unpack", "--to", "json", stdin=data, code=3).stderr)
    command = line.partition("not read here; ")[2].partition(" <FILE | jc --ini")[0]
    left = subprocess.run(shlex.split(command), input=data, capture_output=True, check=True).stdout
    assert left == data.replace(b"export ", b"")


def test_orc_is_told_with_what_makes_parquet_of_it(run: Run, tmp_path: Path) -> None:
    """The hint named a library, and no command."""
    orc = pytest.importorskip("pyarrow.orc")
    import pyarrow

    orc.write_table(pyarrow.table({"a": [1, None], "b": ["x", "y"]}), tmp_path / "a.orc")
    (line,) = lines(run("unpack", "a.orc", "--to", "csv", code=3).stderr)
    command = line.partition("not read here; ")[2].partition(" <FILE makes")[0]
    words = [word.replace("python3", sys.executable) for word in shlex.split(command)]
    data = (tmp_path / "a.orc").read_bytes()
    subprocess.run(words, input=data, cwd=tmp_path, check=True)
    made = run("unpack", "NEW.parquet", "--to", "ndjson", "-o", "-").stdout
    assert list(map(json.loads, made.splitlines())) == [{"a": 1, "b": "x"}, {"a": None, "b": "y"}]


@pytest.mark.parametrize("line", [b"a=b c d=e", b"url=x?a=1&b=2 c=3"])
def test_properties_with_spaces_in_them_are_no_logfmt(run: Run, line: bytes) -> None:
    data = line + b"\nb=2\n"
    (said,) = lines(run("unpack", "--to", "json", stdin=data, code=3).stderr)
    assert "logfmt" not in said


def test_a_text_of_cbor_is_no_setting(run: Run, tmp_path: Path) -> None:
    """Its first byte, the length, is a letter."""
    (tmp_path / "a.cbor").write_bytes(b"c= b")
    assert run("unpack", "a.cbor", "--to", "json", "-o", "-").stdout.strip() == b'"= b"'


def test_requirements_are_no_properties(run: Run) -> None:
    (line,) = lines(run("unpack", "--to", "json", stdin=b"numpy==1.2\npandas==2\n", code=3).stderr)
    assert "there are no records in it that are known (text)" in line


def test_what_is_called_a_table_is_one_whatever_its_text_is_like(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(_INI)
    run("unpack", "a.csv", "--to", "ndjson")
    assert len((tmp_path / "a.ndjson").read_bytes().splitlines()) == 5


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("b.orc", "serialpack unpack a.json --to parquet -o b.parquet writes what pyarrow reads"),
        ("b.html", "serialpack unpack a.json --to csv -o b.csv writes a table of which pandas"),
        ("b.md", "serialpack unpack a.json --to csv -o b.csv writes a table of which csvlook"),
        ("b.sql", "serialpack unpack a.json --to sqlite -o b.sqlite writes a database, sqlite3"),
        ("b.duckdb", "serialpack unpack a.json --to parquet -o b.parquet writes a table that it"),
    ],
)
def test_an_output_that_is_not_written_names_the_command_of_another(
    run: Run, tmp_path: Path, name: str, hint: str
) -> None:
    """They were told that --to FORMAT converts; --to html how pandas reads it, b.sql to be CSV."""
    (tmp_path / "a.json").write_bytes(b'[{"a":1}]')
    (line,) = lines(run("unpack", "a.json", "-o", name, code=3).stderr)
    assert f"; {hint}" in line
    run(*shlex.split(hint)[1:7])
    (line,) = lines(run("unpack", "a.json", "--to", name[2:], code=2).stderr)
    assert line.startswith(f"serialpack: --to: {name[2:]} is not written; --to ")


def test_an_output_whose_name_says_no_format_is_told_so(run: Run, tmp_path: Path) -> None:
    """It was told that the input is no container."""
    (tmp_path / "a.json").write_bytes(b'[{"a":1}]')
    (line,) = lines(run("unpack", "a.json", "-o", "b.txt", code=3).stderr)
    assert line.endswith("; b.txt says no format, --to FORMAT does")
    run("unpack", "a.json", "-o", "b.txt", "--to", "csv")


@pytest.mark.parametrize(
    ("data", "records"),
    [
        (b"---\na: 1\n---\na: 2\n", b'{"a":1}\n{"a":2}\n'),
        (b"---\n# Source: x\na: 1\n...\n", b'{"a":1}\n'),
        (b"---\ntitle: x\n---\n# Head\n- a\n", None),
    ],
)
def test_yaml_that_begins_with_a_mark_is_told_from_a_page(
    run: Run, data: bytes, records: bytes | None
) -> None:
    """What begins so was taken for a page below its front matter, which has no keys."""
    done = run("unpack", "--to", "ndjson", stdin=data, code=0 if records else 3)
    assert records is None or done.stdout == records
