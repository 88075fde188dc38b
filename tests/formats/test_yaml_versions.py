"""YAML's two versions: the core schema unless a document or ``-F yaml:1.1`` says otherwise."""

from __future__ import annotations

import io
import math
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import serialpack
from serialpack.errors import SerialpackError
from serialpack.formats import FORMATS
from serialpack.formats.base import Unheld
from serialpack.formats.shared.document import Malformed
from serialpack.formats.yaml.read import read
from serialpack.formats.yaml.scalars import needs_quotes, plain_tag
from serialpack.formats.yaml.write import write
from serialpack.values.equality import difference
from tests.cli.conftest import Run
from tests.cli.conftest import run as run
from tests.conversion.converting import converted

#: Plain text, what it is by YAML 1.2 (section 10.3.2), and by YAML 1.1.
BOTH: list[tuple[str, Any, Any]] = [
    ("yes", "yes", True),
    ("Off", "Off", False),
    ("on", "on", True),
    ("true", True, True),
    ("FALSE", False, False),
    ("tRue", "tRue", "tRue"),
    ("y", "y", "y"),
    ("~", None, None),
    ("Null", None, None),
    ("nULL", "nULL", "nULL"),
    ("12", 12, 12),
    ("+12", 12, 12),
    ("-0", 0, 0),
    ("012", 12, 10),
    ("08", 8, "08"),
    ("-017", -17, -15),
    ("0o14", 12, "0o14"),
    ("-0o14", "-0o14", "-0o14"),
    ("0O14", "0O14", "0O14"),
    ("0x1F", 31, 31),
    ("-0x1F", "-0x1F", -31),
    ("0b11", "0b11", 3),
    ("1_000", "1_000", 1000),
    ("1_0.5", "1_0.5", 10.5),
    ("20:03:20", "20:03:20", 72200),
    ("1:30.5", "1:30.5", 90.5),
    ("1e3", 1000.0, "1e3"),
    ("1E-3", 0.001, "1E-3"),
    ("1.5e3", 1500.0, "1.5e3"),
    ("1.5e+3", 1500.0, 1500.0),
    (".5", 0.5, 0.5),
    ("-.5", -0.5, "-.5"),
    ("5.", 5.0, 5.0),
    ("+1.0", 1.0, 1.0),
    ("-0.0", -0.0, -0.0),
    (".", ".", "."),
    ("1.2.3", "1.2.3", "1.2.3"),
    (".inf", math.inf, math.inf),
    ("+.INF", math.inf, math.inf),
    ("-.Inf", -math.inf, -math.inf),
    ("-.nan", "-.nan", "-.nan"),
    ("inf", "inf", "inf"),
    ("2001-12-14", "2001-12-14", date(2001, 12, 14)),
    ("2001-12-14 21:59:43", "2001-12-14 21:59:43", None),
    ("=", "=", "="),
    ("!!timestamp 2001-12-14", date(2001, 12, 14), date(2001, 12, 14)),
    ("!!int 012", 12, 10),
    ("!!int '0o17'", 15, Malformed),
    ("!!int 1_0", Malformed, 10),
    ("!!bool yes", Malformed, True),
    ("!!float 3", 3.0, 3.0),
    ("!!float 1:30", Malformed, Malformed),
    ("!!null ~", None, None),
    ("!!str 012", "012", "012"),
    ("!!binary aGk=", b"hi", b"hi"),
    ("!!set {a, on}", {"a", "on"}, {"a", True}),
    ("! 12", "12", SerialpackError),
    ("'on'", "on", "on"),
    ("1e400", Unheld, "1e400"),
    ("0.1000000000000000000001", Unheld, Unheld),
    ("1e-7", 1e-7, "1e-7"),
    ("9" * 4301, SerialpackError, SerialpackError),
    ("0" * 5000 + "1", 1, None),
]


def reads(data: bytes, expected: Any, **how: Any) -> None:
    if isinstance(expected, type):
        with pytest.raises(expected):
            read(data, **how)
        return
    (found,) = read(data, **how)
    assert difference(found, expected) is None


@pytest.mark.parametrize(("text", "core", "older"), BOTH, ids=[text[:30] for text, *_ in BOTH])
def test_each_version_reads_its_own(text: str, core: Any, older: Any) -> None:
    plain = f"--- {text}\n".encode()
    reads(plain, core)
    reads(b"%YAML 1.2\n" + plain, core, core=False)
    if older is not None or core is None:
        reads(plain, older, core=False)
        reads(b"%YAML 1.1\n" + plain, older)


@pytest.mark.parametrize("text", [text for text, *_ in BOTH if not text.startswith(("!", "'"))])
def test_what_either_version_misreads_is_quoted(text: str) -> None:
    if {plain_tag(text, core=core) for core in (True, False)} != {"str"}:
        assert needs_quotes(text)
    for core in (True, False):
        assert read(write([{text: [text]}], explicit=False), core=core) == [{text: [text]}]


def test_a_directive_holds_for_its_document() -> None:
    data = b"%YAML 1.1\n---\n[on, 010]\n---\n[on, 010]\n...\n%YAML 1.2\n---\n[on, 010]\n"
    assert read(data) == [[True, 8], ["on", 10], ["on", 10]]
    assert read(data, core=False) == [[True, 8], [True, 8], ["on", 10]]


@pytest.mark.parametrize("head", [b"", b"%YAML 1.1\n---\n", b"%YAML 1.2\n---\n"])
def test_merge_keys_merge_in_every_version(head: bytes) -> None:
    data = head + b"base: &b {image: x, on: 1}\nweb: {<<: *b, image: y}\nlist: [<<]\n"
    (found,) = read(data)
    assert found["web"]["image"] == "y"
    assert len(found["web"]) == 2
    assert found["list"] == ["<<"]


WORKFLOW = b"on: [push]\nversion: 012\nat: 20:03:20\nday: 2001-12-14\n"
TODAY = {"on": ["push"], "version": 12, "at": "20:03:20", "day": "2001-12-14"}


def test_the_command_line_names_the_version(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(WORKFLOW)
    done = run("unpack", "--to", "json", path, "-o", "-")
    assert done.stdout == (b'{"on":["push"],"version":12,"at":"20:03:20","day":"2001-12-14"}\n')
    lossy = ("--lossy", "keys,timestamps")
    done = run("unpack", "--from", "yaml:1.1", "--to", "json", *lossy, path, "-o", "-")
    assert done.stdout == b'{"true":["push"],"version":10,"at":72200,"day":"2001-12-14"}\n'
    assert b"yaml:1.1" in run("unpack", "-F", "yaml:1.3", "--to", "json", path, code=2).stderr
    assert b"is read, not written" in run("unpack", "-f", "--to", "yaml:1.1", path, code=2).stderr
    assert b"yaml:1.1" in run("inspect", "-F", "yaml:1.1", path).stdout


@pytest.mark.parametrize("serializer", ["raw", "yaml", "pickle", "columns", "auto"])
def test_a_container_keeps_the_version(serializer: str, tmp_path: Path) -> None:
    """What it was packed as is what it is read as; and the bytes come back, or the values."""
    path = tmp_path / "a.spk"
    serialpack.pack(io.BytesIO(WORKFLOW), path, format="yaml:1.1", serializer=serializer)
    found = converted(path.read_bytes(), "yaml:1.1", "pickle")
    out = io.BytesIO()
    serialpack.convert(path, out, to="pickle", trust=True)
    assert out.getvalue() == found
    out = io.BytesIO()
    report = serialpack.unpack(path, out, trust=True)
    assert report.format == "yaml:1.1"
    kept = read(out.getvalue(), core=False)
    assert difference(kept, read(WORKFLOW, core=False)) is None
    assert difference(kept, [TODAY]) is not None
    assert report.exact == (serializer != "pickle") or out.getvalue() == WORKFLOW


@pytest.mark.parametrize("serializer", ["raw", "yaml", "pickle", "json", "cbor"])
def test_values_of_today_are_packed_as_such(serializer: str, tmp_path: Path) -> None:
    path = tmp_path / "a.spk"
    serialpack.pack(io.BytesIO(WORKFLOW), path, format="yaml", serializer=serializer)
    out = io.BytesIO()
    serialpack.unpack(path, out, trust=True)
    for core in (True, False) if serializer not in ("raw", "yaml") else (True,):
        assert read(out.getvalue(), core=core) == [TODAY]


def test_containers_made_before_are_read_as_they_were() -> None:
    """The number of YAML was 7 when all YAML was read by YAML 1.1."""
    golden = Path(__file__).parents[1] / "golden" / "pickle-yaml-1.1.spk"
    out = io.BytesIO()
    report = serialpack.unpack(golden, out, trust=True)
    assert (report.format, report.exact) == ("yaml:1.1", True)
    assert read(out.getvalue(), core=False)[0]["day"] == date(2001, 12, 14)
    entry = FORMATS.by_number(7)
    assert entry is not None
    assert entry.name == "yaml:1.1"
    assert FORMATS.declaration("yaml").number == 19
    day = date(2001, 12, 14)
    old = FORMATS.get("yaml:1.1").write_text([{"d": day}], {}, first=True)  # type: ignore[attr-defined]
    assert old == b"d: 2001-12-14\n"
