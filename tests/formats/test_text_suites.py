"""The public suites of YAML, TOML and CSV: what is read is what they expect, and is kept."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import pytest

import serialpack
from serialpack.errors import InputError, RefusedError
from serialpack.formats import FORMATS
from serialpack.formats.base import SourceBlock, Unheld, ValueFormat
from serialpack.values.equality import difference
from serialpack.values.yaml_tags import YamlTag
from tests.serializers.chains import round_trip


def _read(name: str, source: bytes) -> tuple[str, list[Any]]:
    """``read`` and the records; or ``syntax`` or ``refused``."""
    fmt = FORMATS.get(name)
    assert isinstance(fmt, ValueFormat)
    try:
        return "read", fmt.parse(SourceBlock(source, 0, 0, last=True, line=0))
    except InputError:
        return "syntax", []
    except (Unheld, RefusedError):
        return "refused", []


def _same(one: Any, other: Any) -> bool:
    return difference(one, other) is None


def test_yaml(shared_data: Path) -> None:
    """What is not read is refused for a limit of PyYAML, or as a key Python has not."""
    found: Counter[tuple[bool, str]] = Counter()
    others = set()
    root = shared_data / "conformance" / "yaml-test-suite"
    for path in sorted(root.rglob("in.yaml")):
        source = path.read_bytes()
        what, records = _read("yaml", source)
        valid = not path.with_name("error").exists()
        found[valid, what] += 1
        if what != "read":
            continue
        assert round_trip("yaml", "yaml", source) == (source, True)
        restored, _ = round_trip("pickle", "yaml", source)
        assert _same(_read("yaml", restored)[1], records), path
        expected = path.with_name("in.json")
        if valid and expected.exists():
            values = _json_values(expected.read_text())
            if [*map(_as_json, records)] != values:
                others.add(path.parent.relative_to(root).as_posix())
    assert found == {
        (True, "read"): 122,
        (True, "syntax"): 19,
        (True, "refused"): 9,
        (False, "read"): 3,
        (False, "syntax"): 39,
        (False, "refused"): 1,
    }
    assert not others


def _json_values(text: str) -> list[Any]:
    decoder, values = json.JSONDecoder(), []
    while text := text.lstrip():
        value, end = decoder.raw_decode(text)
        values.append(value)
        text = text[end:]
    return values


def _as_json(value: Any) -> Any:
    """A value as the suite has it in JSON, where JSON has no words for it."""
    if isinstance(value, dict):
        return {"" if key is None else str(key): _as_json(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_as_json(part) for part in value]
    if isinstance(value, set):
        return dict.fromkeys(value)
    if type(value) is YamlTag:  # the suite's JSON has what is under it alone
        return _as_json(value.value)
    return str(value) if isinstance(value, date | bytes) else value


_TYPED: dict[str, Callable[[str], Any]] = {
    "string": str,
    "integer": int,
    "float": float,
    "bool": lambda text: text == "true",
    "datetime": datetime.fromisoformat,
    "datetime-local": datetime.fromisoformat,
    "date-local": date.fromisoformat,
    "time-local": time.fromisoformat,
}


def _typed(value: Any) -> Any:
    """The value that toml-test's JSON means, keys in order."""
    if isinstance(value, list):
        return [_typed(part) for part in value]
    if value.keys() == {"type", "value"} and isinstance(value["type"], str):
        return _TYPED[value["type"]](value["value"])
    return {key: _typed(value[key]) for key in sorted(value)}


def _in_order(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _in_order(value[key]) for key in sorted(value)}
    return [_in_order(part) for part in value] if isinstance(value, list) else value


def test_toml(shared_data: Path) -> None:
    found: Counter[tuple[bool, str]] = Counter()
    root = shared_data / "conformance" / "toml-test"
    names = (root / "files-toml-1.0.0").read_text().split()
    for name in filter(lambda name: name.endswith(".toml"), names):
        source = (root / name).read_bytes()
        what, records = _read("toml", source)
        found[name.startswith("valid/"), what] += 1
        if what != "read":
            continue
        expected = _typed(json.loads((root / name).with_suffix(".json").read_text()))
        assert _same(_in_order(records[0]), expected), name
        assert round_trip("toml", "toml", source) == (source, True)
        restored, _ = round_trip("pickle", "toml", source)
        assert _same(_read("toml", restored)[1], records), name
    assert found == {(True, "read"): 122, (False, "syntax"): 253}


@pytest.mark.parametrize("serializer", ["csv", "tsv", "json", "msgpack"])
def test_csv_spectrum(shared_data: Path, serializer: str) -> None:
    root = shared_data / "conformance" / "csv-spectrum"
    files = sorted((root / "csvs").glob("*.csv"))
    assert len(files) == 6
    for path in files:
        source = path.read_bytes()
        assert round_trip(serializer, "csv", source) == (source, True)
        expected = json.loads((root / "json" / f"{path.stem}.json").read_text())
        if path.stem == "newlines_crlf":  # the copy here has lost its carriage returns
            expected = json.loads((root / "json" / "newlines.json").read_text())
        assert _same(_read("csv", source)[1], expected)


@pytest.mark.parametrize("serializer", ["csv", "tsv", "json", "msgpack"])
def test_real_tables(shared_data: Path, serializer: str) -> None:
    """All come back byte by byte, but for one whose comments are no rows."""
    refused = set()
    for path in sorted((shared_data / "tabular").glob("*.[ct]sv")):
        source = path.read_bytes()
        try:
            assert round_trip(serializer, path.suffix[1:], source, 1 << 16) == (source, True)
        except RefusedError:
            refused.add(path.name)
    assert refused == {"umath-validation-set-sin.csv"}


@pytest.mark.parametrize("serializer", ["toml", "yaml", "json"])
def test_real_toml(shared_data: Path, serializer: str) -> None:
    for path in sorted((shared_data / "config").iterdir()):
        packed, unpacked = io.BytesIO(), io.BytesIO()
        serialpack.pack(path, packed, serializer=serializer, format="toml", threads=1)
        packed.seek(0)
        serialpack.unpack(packed, unpacked)
        assert _same(_read("toml", unpacked.getvalue()), _read("toml", path.read_bytes()))
