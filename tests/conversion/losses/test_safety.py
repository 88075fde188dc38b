"""UUIDs that say how safe they are: where a format has no place for it, it goes, and is told."""

from __future__ import annotations

import io
import pickle
from typing import Any
from uuid import UUID, SafeUUID

import pytest

import serialpack
from serialpack.conversion.targets.writers import written
from tests.conversion.converting import records_of

MADE = UUID("cd3b43c6-ec58-11f1-b967-02fc00000001", is_safe=SafeUUID.unsafe)


def _converted(value: Any, target: str, **how: Any) -> tuple[bytes, serialpack.ConvertReport]:
    out = io.BytesIO()
    source = io.BytesIO(pickle.dumps(value))
    report = serialpack.convert(source, out, format="pickle", to=target, trust=True, **how)
    return out.getvalue(), report


@pytest.mark.parametrize("target", sorted({*written()} - {"pickle", "npy", "protobuf"}))
def test_what_uuid1_makes_is_held_without_its_word(target: str) -> None:
    """All formats of text refused it, and Parquet, Arrow and Avro dropped the word in silence."""
    records = [{"id": MADE, "n": "x"}, {"id": UUID(int=MADE.int), "n": "y"}]
    value = records[0] if target in ("toml", "npz", "hdf5") else records
    for verify in (True, False):
        _, report = _converted(value, target, verify=verify)
        (told,) = [loss for loss in report.carried if loss.rule == "safety"]
        assert (told.count, told.record, told.was) == (1, 0, "<SafeUUID.unsafe: -1>")
    with pytest.raises(serialpack.ValueRefusedError):
        _converted(value, target, strict=True)


def test_where_python_keeps_it_nothing_is_told() -> None:
    data, report = _converted({"id": MADE}, "pickle")
    assert pickle.loads(data)["id"].is_safe is SafeUUID.unsafe
    assert not report.carried
    data, report = _converted({"id": MADE}, "json", tagged=True)
    assert not report.carried
    out = io.BytesIO()
    serialpack.convert(io.BytesIO(data), out, format="json", to="pickle", tagged=True)
    assert pickle.loads(out.getvalue())["id"].is_safe is SafeUUID.unsafe


def test_keys_and_what_is_nested() -> None:
    data, report = _converted({"a": [{MADE: (MADE,)}]}, "cbor")
    assert [loss.count for loss in report.carried if loss.rule == "safety"] == [2]
    assert records_of(data, "cbor") == [{"a": [{MADE: [MADE]}]}]
