"""``load`` of files that are one document: their values, as ``open`` has them."""

from __future__ import annotations

import gzip
import io
import json
import pickle
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import serialpack
from serialpack.errors import (
    NotContainerError,
    RefusedError,
    SyntaxInputError,
    UsageError,
    ValueRefusedError,
)
from tests.pipes import Pipe

_VALUE = {"a": [1, 2.5, {"b": None}], "é": "x"}

DOCUMENTS: dict[str, tuple[str, Any]] = {
    "json": (json.dumps(_VALUE, indent=2), _VALUE),
    "json of a list": ('[{"a": 1}, 2]', [{"a": 1}, 2]),
    "json of a text": ('"x"', "x"),
    "json of nothing": ("[]", []),
    "json of no members": ("{}", {}),
    "json of a long list": (json.dumps([{"n": n} for n in range(9000)]), None),
    "yaml": ("a: 1  # said\nb: [x]\n", {"a": 1, "b": ["x"]}),
    "toml": ("a = 1\nd = 2020-01-02\n", {"a": 1, "d": date(2020, 1, 2)}),
    "msgpack": ("\x81\xa1a\x01", {"a": 1}),
}


def _packed(text: str, ending: str, tmp_path: Path, **how: Any) -> Path:
    path = tmp_path / f"a.{ending}"
    path.write_bytes(text.encode("latin-1" if ending == "msgpack" else "utf-8"))
    serialpack.pack(path, tmp_path / "a.spk", **how)
    return tmp_path / "a.spk"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_of_a_packed_document_the_value_is_loaded(name: str, tmp_path: Path) -> None:
    """It was refused, though ``open`` had what is in it."""
    text, value = DOCUMENTS[name]
    ending = name.split()[0]
    if ending in ("yaml", "msgpack"):
        pytest.importorskip(ending)
    value = json.loads(text) if value is None else value
    packed = _packed(text, ending, tmp_path, block_size=65536)
    assert serialpack.load(packed) == value
    assert serialpack.load(packed, mmap_mode="r") == value
    assert serialpack.load(Pipe(packed.read_bytes())) == value
    assert serialpack.loads(packed.read_bytes()) == value
    with packed.open("rb") as file:
        assert serialpack.load(file) == value


@pytest.mark.parametrize("name", DOCUMENTS)
def test_of_a_document_that_is_not_packed_too(name: str, tmp_path: Path) -> None:
    """It was said that ``convert`` reads it, where its container was loaded."""
    text, value = DOCUMENTS[name]
    ending = name.split()[0]
    if ending in ("yaml", "msgpack"):
        pytest.importorskip(ending)
    value = json.loads(text) if value is None else value
    path = tmp_path / f"a.{ending}"
    path.write_bytes(text.encode("latin-1" if ending == "msgpack" else "utf-8"))
    assert serialpack.load(path) == value
    assert serialpack.load(path, mmap_mode="r") == value
    (tmp_path / f"a.{ending}.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert serialpack.load(tmp_path / f"a.{ending}.gz") == value
    serialpack.pack(tmp_path / f"a.{ending}.gz", tmp_path / "gz.spk")
    assert serialpack.load(tmp_path / "gz.spk") == value
    with path.open("rb") as file:
        assert serialpack.load(file) == value
    with pytest.raises(NotContainerError):  # no message should be anything
        serialpack.loads(path.read_bytes())


def test_what_is_wrong_with_one_that_is_not_packed_is_said_of_it(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"a": 0.12345678901234567890}')
    with pytest.raises(ValueRefusedError, match="the file has it as it is spelled"):
        serialpack.load(path)
    path.write_text('{"a": [1, 2')
    with pytest.raises(SyntaxInputError) as caught:
        serialpack.load(path)
    assert str(caught.value).startswith(f"{path}: line 1, column 12")
    several = tmp_path / "a.msgpack"
    several.write_bytes(b"\x01\x02")
    with pytest.raises(UsageError, match=r'convert\(path, target, to="ndjson"\) writes each$'):
        serialpack.load(several)
    serialpack.convert(several, tmp_path / "a.out", to="ndjson")
    assert (tmp_path / "a.out").read_text() == "1\n2\n"


def test_members_of_a_large_map_are_one_map(tmp_path: Path) -> None:
    value = {f"key {n}": {"n": n, "text": "x" * 20} for n in range(9000)}
    packed = _packed(json.dumps(value), "json", tmp_path, block_size=65536)
    assert len(serialpack.inspect(packed).members[0].blocks) > 1
    found = serialpack.load(packed, object_hook=lambda record: record)
    assert list(found.items()) == list(value.items())
    twice = json.dumps(value)[:-1] + ', "key 1": 2}'
    packed.unlink()
    packed = _packed(twice, "json", tmp_path, block_size=65536)
    with pytest.raises(ValueRefusedError, match=r'\$\["key 1"\].* a key twice'):
        serialpack.load(packed)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('{"a": 0.12345678901234567890}', "digits"),
        ('[1, {"a": 1, "a": 2}]', "duplicate-keys"),
        ("-0", "negative-zero"),
    ],
)
def test_what_python_would_hold_otherwise_is_refused(text: str, kind: str, tmp_path: Path) -> None:
    with pytest.raises(ValueRefusedError) as caught:
        serialpack.load(_packed(text, "json", tmp_path))
    assert caught.value.kind == kind
    assert str(caught.value).startswith(str(tmp_path))


def test_a_pickle_is_loaded_with_trust(tmp_path: Path) -> None:
    (tmp_path / "a.pkl").write_bytes(pickle.dumps({"a": (1, {2})}))
    serialpack.pack(tmp_path / "a.pkl", tmp_path / "a.spk")
    for name in ("a.spk", "a.pkl"):
        with pytest.raises(RefusedError, match="trust=True"):
            serialpack.load(tmp_path / name)
        assert serialpack.load(tmp_path / name, trust=True) == {"a": (1, {2})}


def test_several_and_none_are_no_object(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    with pytest.raises(UsageError, match=r"several documents \(yaml\).*open\(path\) has them"):
        serialpack.load(_packed("a: 1\n---\nb: 2\n", "yaml", tmp_path))
    (tmp_path / "a.spk").unlink()
    one = _packed("[1]", "json", tmp_path).read_bytes()
    for both in (one + one, one + _empty()):
        with pytest.raises(UsageError, match="several documents"):
            serialpack.loads(both)


def _empty() -> bytes:
    packed = io.BytesIO()
    serialpack.pack(io.BytesIO(b"[]"), packed, format="json")
    return packed.getvalue()


def test_a_sequence_is_none_even_where_it_has_one_record(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"holds an ndjson file, not one object; open\(path\)"):
        serialpack.load(_packed('{"a": 1}\n', "ndjson", tmp_path))
