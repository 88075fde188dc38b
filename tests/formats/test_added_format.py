"""A format is added to a copy of the package, in one file and one line, and everything finds it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]

#: What is written: a class that says how its records are read and written.
FILE = '''"""Properties: lines of a name, an equals sign and a text."""

from __future__ import annotations

from typing import Any

from serialpack.formats.shared.document import DocumentFormat, Malformed
from serialpack.values.kinds import BEYOND_JSON


class PropertiesFormat(DocumentFormat):
    """One record: a map of texts."""

    about = "names and texts, one a line"
    title = "properties"
    one_record = True
    cannot = BEYOND_JSON | {"null", "bare", "nested", "boolean", "integer", "float", "control"}

    def read(self, data: bytes) -> list[Any]:
        found: dict[str, str] = {}
        for line in data.decode().splitlines():
            name, equals, text = line.partition("=")
            if not equals or name in found:
                raise Malformed(f"no property: {line[:20]!r}")
            found[name] = text
        return [found]

    def write(self, records: list[Any]) -> bytes:
        (record,) = records
        for name, text in record.items():
            if type(text) is not str or "=" in name or not (name + text).isprintable():
                raise ValueError(f"{text!r} is no text of a line")
        return "".join(f"{name}={text}\\n" for name, text in record.items()).encode()
'''

#: And the line of the registry.
LINE = """
    Declaration(
        "properties", 999, "serialpack.formats.properties:PropertiesFormat", (".properties",),
        magic=(b"#properties",), is_text=True,
    ),
"""

TEXT = b"host=example.org\nport=80\n"
VALUES = {"host": "example.org", "port": "80"}

Done = subprocess.CompletedProcess[bytes]
Run = Callable[..., Done]


@pytest.fixture(scope="session")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package and of what is made from it, with the format."""
    house = tmp_path_factory.mktemp("house")
    for folder in ("serialpack", "tools", "tests"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / folder, house / folder, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", house)
    (house / "serialpack/formats/properties.py").write_text(FILE)
    registry = house / "serialpack/formats/__init__.py"
    text = registry.read_text("utf-8")
    assert text.endswith("),\n)\n")
    registry.write_text(text.removesuffix(")\n") + LINE.strip("\n") + "\n)\n", "utf-8")
    return house


@pytest.fixture
def run(house: Path, tmp_path: Path) -> Run:
    (tmp_path / "a.properties").write_bytes(TEXT)
    (tmp_path / "a.json").write_text(json.dumps(VALUES))

    def run(*args: str, module: str = "serialpack", **how: Any) -> Done:
        done: Done = subprocess.run(
            [sys.executable, "-m", module, *args],
            cwd=how.pop("cwd", tmp_path),
            env={**os.environ, "PYTHONPATH": str(house), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            **how,
        )
        return done

    return run


def done(result: Done) -> bytes:
    assert result.returncode == 0, result.stderr.decode()
    return result.stdout


def test_to_and_from(run: Run) -> None:
    assert json.loads(done(run("unpack", "--to", "json", "a.properties", "-o", "-"))) == VALUES
    assert done(run("unpack", "--to", "properties", "a.json", "-o", "-")) == TEXT
    piped = run("unpack", "--from", "properties", "--to", "json", "-", input=TEXT)
    assert json.loads(done(piped)) == VALUES


def test_its_values_are_packed_and_come_back(run: Run, tmp_path: Path) -> None:
    for serializer in ("auto", "raw", "msgpack", "json"):
        done(run("pack", "-f", "-s", serializer, "a.properties"))
        assert done(run("unpack", "a.properties.spk", "-o", "-")) == TEXT
    done(run("unpack", "--to", "msgpack", "a.properties.spk", "-o", "a.msgpack"))
    assert (tmp_path / "a.msgpack").stat().st_size


def test_what_it_cannot_hold_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text('{"port": [80]}')
    refused = run("unpack", "--to", "properties", "b.json", "-o", "-")
    assert refused.returncode == 4
    assert b"$.port" in refused.stderr
    (tmp_path / "b.properties").write_bytes(b"no sign\n")
    wrong = run("unpack", "--to", "json", "b.properties", "-o", "-")
    assert wrong.returncode == 3
    assert b"not valid properties" in wrong.stderr


def test_it_is_detected_and_inspected(run: Run, tmp_path: Path) -> None:
    (tmp_path / "unnamed").write_bytes(b"#properties=1\n" + TEXT)
    for name in ("a.properties", "unnamed"):
        assert json.loads(done(run("inspect", "--json", name)))["format"] == "properties"
    assert b"properties" in done(run("inspect", "a.properties"))


def test_man_pages_and_completions_offer_it(run: Run, house: Path) -> None:
    for folder in ("man", "completions"):
        (house / folder).mkdir(exist_ok=True)
    done(run(module="tools.generate"))
    assert "properties" in (house / "completions/serialpack.bash").read_text("utf-8")
    assert "properties" in (house / "man/serialpack-pack.1").read_text("utf-8")


def test_the_shared_suites_try_it(run: Run, house: Path) -> None:
    suites = ("tests/formats/test_registry.py", "tests/formats/test_splitting.py")
    tried = run(*suites, "-q", "-k", "properties", module="pytest", cwd=house)
    assert b" passed" in done(tried)
