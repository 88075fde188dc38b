"""A pickle that runs a command: on the command line nothing does that without --trust."""

from __future__ import annotations

import json
import os
import pickle
import struct
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run

needs_shell = pytest.mark.skipif(os.name != "posix", reason="runs touch")


class Touch:
    """Its pickle calls ``os.system``."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (os.system, (f"touch '{self.path}'",))


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    return tmp_path / "marker"


@pytest.fixture
def evil(tmp_path: Path, marker: Path) -> Path:
    path = tmp_path / "evil.pkl"
    path.write_bytes(pickle.dumps([Touch(marker)]))
    return path


def only_line(stderr: bytes) -> str:
    (line,) = stderr.decode().splitlines()
    return line


@needs_shell
@pytest.mark.parametrize("serializer", ["auto", "raw", "pickle", "pickle:2", "cloudpickle"])
def test_a_pickle_is_packed_as_it_is(
    run: Run, evil: Path, marker: Path, tmp_path: Path, serializer: str
) -> None:
    run("pack", "-s", serializer, evil)
    packed, back = tmp_path / "evil.pkl.spk", tmp_path / "back.pkl"
    run("inspect", packed)
    if "pickle" in serializer:
        done = run("unpack", packed, "-o", back, code=4)
        assert "can run any code that the file's writer put into it; unpack --trust" in only_line(
            done.stderr
        )
        assert not back.exists()
        run("unpack", "--trust", packed, "-o", back)
    else:
        run("unpack", packed, "-o", back)
    assert back.read_bytes() == evil.read_bytes()
    assert not marker.exists()


@needs_shell
def test_a_pickle_is_read_for_another_serializer_with_trust_only(
    run: Run, evil: Path, marker: Path, tmp_path: Path
) -> None:
    packed = tmp_path / "evil.pkl.spk"
    for more in (["-s", "json"], ["-s", "msgpack", "--no-verify"], ["-s", "marshal"]):
        done = run("pack", *more, evil, code=4)
        assert "reading pickle can run any code" in only_line(done.stderr)
        assert not packed.exists()
    done = run("pack", "-s", "json", "--from", "pickle", stdin=evil.read_bytes(), code=4)
    assert done.stdout == b""
    run("inspect", evil)
    done = run("inspect", "--head", "1", evil, code=4)
    assert "unpack --to ndjson --trust reads it" in only_line(done.stderr)
    assert not marker.exists()
    run("pack", "-s", "json", "--trust", evil)
    assert marker.exists()


@needs_shell
def test_a_container_is_undone_with_trust_only(
    run: Run, marker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says that it was NDJSON; what it holds is a pickle of somebody's."""
    import serialpack
    import serialpack.formats.python.pickle as module

    source, packed = tmp_path / "a.ndjson", tmp_path / "a.ndjson.spk"
    source.write_bytes(b"0\n")
    whole = module.dump_pickle

    def swapped(_: Any, protocol: int) -> bytes:
        return whole([Touch(marker)], protocol)

    monkeypatch.setattr(module, "dump_pickle", swapped)
    serialpack.pack(source, packed, serializer="pickle", verify=False, threads=1)
    source.unlink()
    for args in (
        ["unpack", packed],
        ["unpack", "--test", packed],
        ["unpack", "--records", "0:1", packed, "-o", "-"],
        ["unpack", "--bytes", "0:1", packed, "-o", "-"],
        ["unpack", "--to", "pickle", packed, "-o", "-"],
        ["inspect", "--head", "1", packed],
    ):
        done = run(*args, code=4)
        assert "--trust" in only_line(done.stderr)
        assert done.stdout == b""
    assert b"pickle:5" in run("inspect", packed).stdout
    (member,) = json.loads(run("inspect", "--json", packed).stdout)["members"]
    assert member["records"] == 1
    assert not source.exists()
    assert not marker.exists()
    run("unpack", "--trust", packed)
    assert marker.exists()


def test_trust_unpacks_every_form(run: Run, sample: Path, tmp_path: Path) -> None:
    packed, back = tmp_path / "sample.ndjson.spk", tmp_path / "back"
    for serializer in ("pickle", "pickle:0", "marshal", "cloudpickle"):
        run("pack", "-f", "-s", serializer, sample)
        run("unpack", "--trust", packed, "-f", "-o", back)
        assert back.read_bytes() == sample.read_bytes()
        ten = run("unpack", "--trust", "--records", "10:12", packed, "-o", "-").stdout
        assert ten == b"".join(sample.read_bytes().splitlines(True)[10:12])
        run("unpack", "--trust", "--test", packed)
        piped = run("unpack", "--trust", stdin=packed.read_bytes()).stdout
        assert piped == sample.read_bytes()


def test_trust_reaches_into_an_archive(run: Run, sample: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.ndjson"
    other.write_bytes(b"[1]\n")
    packed, folder = tmp_path / "all.spk", tmp_path / "out"
    run("pack", "-s", "pickle", "--archive", sample.name, other.name, "-o", packed)
    run("unpack", packed, "-o", folder, code=4)
    assert not list(folder.rglob("*.ndjson"))
    run("unpack", "--trust", "-f", packed, "-o", folder)
    assert (folder / sample.name).read_bytes() == sample.read_bytes()
    assert (folder / other.name).read_bytes() == b"[1]\n"


BAD = [
    ("truncated", pickle.dumps(["some text"])[:-2], 3),
    ("rubbish", pickle.dumps([1]) + b"xyz\n", 3),
    ("text", b"hello world\n", 3),
    ("utf-8", b"\x80\x04\x8c\x02\xff\xfe.", 3),
    ("utf-16", "hello".encode("utf-16"), 3),
    ("length", b"\x80\x05\x96" + struct.pack("<Q", 1 << 40) + b"abc.", 3),
    ("memo", b"\x80\x02Nr\xff\xff\xff\x7f.", 3),
    ("marks", b"\x80\x04" + b"(" * 100_000, 3),
    ("gone", b"\x80\x04\x8c\x08mymodule\x8c\x05Point\x93)\x81.", 3),
    ("exit", b"csys\nexit\n(I0\ntR.", 3),
    ("depth", b"\x80\x04" + b"]" * 100_000 + b"a" * 99_999 + b".", 4),
]


@pytest.mark.parametrize(("name", "data", "code"), BAD, ids=[name for name, *_ in BAD])
def test_bad_pickles_get_one_line(
    run: Run, tmp_path: Path, name: str, data: bytes, code: int
) -> None:
    (tmp_path / "bad.pkl").write_bytes(data)
    line = only_line(run("pack", "-s", "json", "--trust", "bad.pkl", code=code).stderr)
    assert len(line) < 250, name
    if name not in ("gone", "exit", "depth"):  # what is well written is kept
        line = only_line(run("pack", "-s", "pickle", "bad.pkl", code=3).stderr)
        assert ("UTF-16" if name == "utf-16" else ": byte ") in line
    assert not (tmp_path / "bad.pkl.spk").exists()


def test_marshal_of_another_python_is_refused(
    run: Run, sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import serialpack
    import serialpack.serializers.marshal as module

    packed = tmp_path / "sample.ndjson.spk"
    monkeypatch.setattr(module, "_HERE", "3.99")
    serialpack.pack(sample, packed, serializer="marshal", threads=1)
    done = run("unpack", "--trust", packed, "-o", tmp_path / "back", code=3)
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert f"Python 3.99 cannot be read by Python {here}" in only_line(done.stderr)
    assert b"marshal:4" in run("inspect", packed).stdout
