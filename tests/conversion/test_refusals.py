"""A refusal lists all that stands in the way, and the command that it names goes through."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import msgpack
import pytest

import serialpack
from serialpack.cli.app import run
from serialpack.conversion import refusals
from serialpack.conversion.tables import rewindable
from serialpack.files.source import Source
from tests.conversion.converting import converted

#: Refused -> what is lost, and the way out that the hint names.
WAYS: dict[str, tuple[str, bytes, str, str]] = {
    "several kinds": ("a.yaml", b'a: 1\n"a": 2\nb: .nan\nc: .inf\n', "json", "nan,duplicates"),
    "many of a kind": ("a.yaml", b"a: [.nan, .nan]\n", "json", "nan"),
    "one": ("a.yaml", b"a: .nan\n", "json", "nan"),
    "one behind a spelled number": ("a.yaml", b"a: 0.30\nb: .inf\n", "json", "nan"),
    "null in TOML": ("a.json", b'{"a":null,"b":{"c":null}}', "toml", "null"),
    "integers and digits": (
        *("a.json", b'{"a":%d,"b":0.10000000000000000001}' % (1 << 70)),
        *("msgpack", "bigint,digits"),
    ),
    "no UTF-8 in tables": ("a.json", b'[{"a":"\\ud800"}]', "csv", "utf8"),
    "around": ("a.json", b'{"rows":[{"a":1}],"n":1}', "csv --at rows", "around"),
    "a separator in a key": (
        "a.json",
        b'[{"a.b":1,"c":{"d":2}}]',
        "csv --separator .",
        "--separator /",
    ),
    "no NaN in JSON": ("a.yaml", b"v: .nan\n", "json", "--tagged"),
}


@pytest.mark.parametrize("name", WAYS)
def test_the_way_out_is_one(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file, data, target, way = WAYS[name]
    path, out = tmp_path / file, tmp_path / "out"
    path.write_bytes(data)
    command = ["unpack", "-f", "--to", *target.split(), str(path), "-o", str(out)]
    assert run(command) == 4
    said = capfd.readouterr().err
    assert len(said.splitlines()) == 1
    words = way.split() if way.startswith("--") else ["--lossy", way]
    assert " ".join(words) in said
    assert not out.exists()
    assert run([*command, *words]) == 0
    if words[0] == "--lossy":
        assert run([*command, "--lossy", "all"]) == 0
        told = capfd.readouterr().err
        assert all(re.search(rf"(?m)^  {rule}: \d+ changed", told) for rule in way.split(","))


@pytest.mark.parametrize("longest", [2, -1], ids=["in time", "late"])
def test_kinds_have_counts_and_first_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, longest: float
) -> None:
    """Of one block all is known, however long that took."""
    monkeypatch.setattr(refusals, "LONGEST", longest)
    path = tmp_path / "a.ndjson"
    path.write_bytes(b'{"a":1}\n' + b'{"a":%d,"b":0.10000000000000000001}\n' % (1 << 70) * 3)
    with pytest.raises(serialpack.ValueRefusedError) as refused:
        serialpack.convert(path, tmp_path / "out", to="msgpack")
    assert refused.value.hint == (
        "in all 3 bigint (first in record 1, $.a), 3 digits (first in record 1, $.b):"
        " --lossy bigint,digits lets them go"
    )


def test_a_name_that_is_an_option_is_no_way_out(tmp_path: Path) -> None:
    """What keeps the value was found in the hint, by the word before which it stands."""
    path = tmp_path / "a.json"
    path.write_bytes(b'[{"--lossy":%d},{"--lossy":%d}]' % (1 << 70, 1 << 71))
    with pytest.raises(serialpack.ValueRefusedError) as refused:
        serialpack.convert(path, tmp_path / "out", to="parquet")
    assert refused.value.hint == (
        '--types --lossy=decimal holds it; in all 2 bigint (first in record 0, $["--lossy"]):'
        " --lossy bigint lets them go"
    )


def test_a_source_is_not_told_that_its_own_format_holds_it(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b'{"a":%d}' % (1 << 70))
    with pytest.raises(serialpack.ValueRefusedError) as refused:
        serialpack.convert(path, tmp_path / "out", to="msgpack")
    assert not re.search(r"\bjson\b", refused.value.hint or "")


def refused(data: bytes, *words: str) -> str:
    """What the command says of ``data`` on its standard input, a pipe."""
    command = [sys.executable, "-m", "serialpack", "unpack", *words]
    done = subprocess.run(command, input=data, capture_output=True, timeout=250, check=False)
    assert (done.returncode, done.stdout) == (4, b"")
    return done.stderr.decode()


@pytest.mark.parametrize("name", [name for name, way in WAYS.items() if "," in way[-1]])
def test_a_pipe_lists_what_a_file_does(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file, data, target, _ = WAYS[name]
    path = tmp_path / file
    path.write_bytes(data)
    assert run(["unpack", "--to", *target.split(), str(path)]) == 4
    of_file = capfd.readouterr().err.replace(str(path), "standard input")
    assert refused(data, "--from", path.suffix[1:], "--to", *target.split(), "-") == of_file


def test_a_pipe_is_not_waited_for_to_say_what_else_is_in_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Somebody has it open who writes no more; the proof is that the test ends."""
    monkeypatch.setattr(rewindable, "LONGEST", 0.01)
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as source, os.fdopen(writing, "wb", buffering=0) as sink:
        sink.write(b"some")
        with rewindable.twice(source, sure=False, may=True) as again:
            for _ in range(2):
                opened = again.again()
                assert isinstance(opened, Source)
                assert opened.read(4) == b"some"
            with pytest.raises(rewindable.TooFar):
                opened.read(4)  # type: ignore[union-attr]


def test_what_is_beyond_what_is_kept_is_refused_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rewindable, "_MOST", 100)
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as source, os.fdopen(writing, "wb") as sink:
        sink.write(b'{"a":1}\n' * 50 + b'{"a":%d,"b":0.10000000000000000001}\n' % (1 << 70))
        sink.close()
        with pytest.raises(serialpack.ValueRefusedError) as error:
            serialpack.convert(source, tmp_path / "out", to="msgpack", format="ndjson")
    assert error.value.record == 50
    assert error.value.hint == "--lossy digits lets it go"


@pytest.mark.parametrize("target", ["csv", "parquet", "sqlite"])
def test_what_is_lost_within_json_text_is_named_where_it_stands(target: str) -> None:
    """The list was named, and to be "list"."""
    record = {"a": [1, {"b c": float("nan")}]}
    data = b"".join(map(msgpack.packb, (record, {"a": 1})))
    with pytest.raises(serialpack.ValueRefusedError, match=r" cannot hold a NaN .*: nan") as caught:
        converted(data, "msgpack", target)
    assert caught.value.value_path == '$.a[1]["b c"]'
    converted(data, "msgpack", target, lossy=["nan"])
