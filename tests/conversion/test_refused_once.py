"""What a refusal near the end of a large document costs: the way out is looked for once, and what
is known to be refused is not tried again as it is."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

import serialpack
from serialpack.conversion.blocks import hints
from serialpack.conversion.blocks.converter import BlockConverter
from serialpack.errors import ValueRefusedError
from serialpack.stages.stage import WIDE

RECORDS = [{"id": i, "name": "n" * 20} for i in range(WIDE // 30)]


@pytest.mark.parametrize("more", [0, 2])
def test_the_way_out_is_looked_for_once(monkeypatch: pytest.MonkeyPatch, more: int) -> None:
    """It was for the part of the document, too, that nobody is told of; and of all of it each way
    of reading was tried again, to list what is lost."""
    document = json.dumps({"a": [*RECORDS, *({"id": 1 << 200} for _ in range(1 + more))]}).encode()
    assert len(document) > WIDE
    looked: list[Any] = []
    tried: list[dict[str, bool]] = []
    find, read = hints.hint_for, BlockConverter._try

    def found(*args: Any, **how: Any) -> Any:
        looked.append(args)
        return find(*args, **how)

    def counted(self: BlockConverter, block: Any, reader: Any, **how: bool) -> Any:
        if not self.plan.is_part:
            tried.append(how)
        return read(self, block, reader, **how)

    monkeypatch.setattr(hints, "hint_for", found)
    monkeypatch.setattr(BlockConverter, "_try", counted)
    with pytest.raises(ValueRefusedError) as refused:
        serialpack.convert(io.BytesIO(document), io.BytesIO(), format="json", to="msgpack")
    assert refused.value.record == 0
    assert refused.value.value_path == f"$.a[{len(RECORDS)}].id"
    assert "--lossy bigint lets " in str(refused.value.hint)
    assert ("in all 3 bigint" in str(refused.value.hint)) == bool(more)
    assert len(looked) == 1
    assert tried == [{"usual": True}, {}, {"lossy": True}, {"lossy": True}]


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("$", "itself"),
        ("$.a", {"a": [1, {"b c": 2}]}),
        ("$.a[1]", {"a": [{"b c": 2}]}),
        ('$.a[1]["b c"]', {"a": [{"b c": 2}]}),
        ('$["q\\"]"].x', {'q"]': {"x": 3}}),
        ("$.a[2]", "itself"),
        ("$.a.b", "itself"),
        ("$[0]", "itself"),
        ("$.no", "itself"),
        ("$[(1, 2)]", "itself"),
    ],
)
def test_what_stands_at_a_path(path: str, part: Any) -> None:
    record = {"a": [1, {"b c": 2}], 'q"]': {"x": 3, "y": 4}, (1, 2): 5}
    found = hints.on_path(record, path)
    assert found is record if part == "itself" else found == part


@pytest.mark.parametrize("how", [{}, {"strict": True}, {"tagged": True}])
def test_a_way_out_is_told_that_lets_all_of_it_go(how: dict[str, Any]) -> None:
    """It is tried with the lost value, and, where nothing lists the rest, with all."""
    document = json.dumps({"a": 1 << 70, "b": {"x\0y": 1}}).encode()
    with pytest.raises(ValueRefusedError) as refused:
        serialpack.convert(io.BytesIO(document), io.BytesIO(), format="json", to="bson", **how)
    assert refused.value.value_path == "$.a"
    assert refused.value.hint == "--to ndjson, typed-xml or yaml can"


def test_what_else_would_be_lost_is_in_the_way_out() -> None:
    document = json.dumps({"a": 1 << 70, "b": "\ud800"}).encode()
    strictly: dict[str, Any] = {"strict": True}
    for how in strictly, {}:
        with pytest.raises(ValueRefusedError, match='"bigint", "utf8"'):
            serialpack.convert(
                io.BytesIO(document), io.BytesIO(), format="json", to="msgpack", **how
            )
