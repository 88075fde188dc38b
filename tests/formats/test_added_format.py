"""A format is added to a copy of the package, in one file and one line, and everything finds it."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.added import House, copied

# It is about where things are looked up, which no Python does in another way.
pytestmark = pytest.mark.slow

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
LINE = """Declaration(
        "properties", 999, "serialpack.formats.properties:PropertiesFormat", (".properties",),
        magic=(b"#properties",), is_text=True,
    )"""

TEXT = b"host=example.org\nport=80\n"
VALUES = {"host": "example.org", "port": "80"}

Run = Callable[..., bytes]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> House:
    house = copied(tmp_path_factory.mktemp("house"))
    head = "FORMATS = FormatRegistry("
    house.add(
        "serialpack/formats/properties.py", FILE, "serialpack/formats/__init__.py", head, LINE
    )
    house.generate()
    return house


@pytest.fixture
def run(house: House, tmp_path: Path) -> Run:
    (tmp_path / "a.properties").write_bytes(TEXT)
    (tmp_path / "a.json").write_text(json.dumps(VALUES))
    return partial(house.done, cwd=tmp_path)


def test_to_and_from(run: Run) -> None:
    assert json.loads(run("unpack", "--to", "json", "a.properties", "-o", "-")) == VALUES
    assert run("unpack", "--to", "properties", "a.json", "-o", "-") == TEXT
    piped = run("unpack", "--from", "properties", "--to", "json", "-", data=TEXT)
    assert json.loads(piped) == VALUES


def test_its_values_are_packed_and_come_back(run: Run, tmp_path: Path) -> None:
    for serializer in ("auto", "raw", "msgpack", "json"):
        run("pack", "-f", "-s", serializer, "a.properties")
        assert run("unpack", "a.properties.spk", "-o", "-") == TEXT
    run("unpack", "--to", "msgpack", "a.properties.spk", "-o", "a.msgpack")
    assert (tmp_path / "a.msgpack").stat().st_size


def test_what_it_cannot_hold_is_refused(house: House, tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text('{"port": [80]}')
    refused = house.run("unpack", "--to", "properties", "b.json", "-o", "-", cwd=tmp_path)
    assert refused.returncode == 4
    assert b"$.port" in refused.stderr
    (tmp_path / "b.properties").write_bytes(b"no sign\n")
    wrong = house.run("unpack", "--to", "json", "b.properties", "-o", "-", cwd=tmp_path)
    assert wrong.returncode == 3
    assert b"not valid properties" in wrong.stderr


def test_it_is_detected_and_inspected(run: Run, tmp_path: Path) -> None:
    (tmp_path / "unnamed").write_bytes(b"#properties=1\n" + TEXT)
    for name in ("a.properties", "unnamed"):
        assert json.loads(run("inspect", "--json", name))["format"] == "properties"
    assert b"properties" in run("inspect", "a.properties")


def test_man_pages_and_completions_offer_it(house: House) -> None:
    for made in ("completions/serialpack.bash", "man/serialpack-pack.1"):
        assert "properties" in house.text(made)


def test_the_shared_suites_try_it(house: House) -> None:
    suites = "tests/formats/test_registry.py", "tests/formats/test_splitting.py"
    assert house.shared_tests_pass("properties", *suites)
