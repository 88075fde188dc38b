"""What is one small block goes without what several need, and becomes the very same."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import serialpack
from serialpack import DamagedError, RefusedError, UsageError, api
from serialpack.pipeline import short as packing
from serialpack.pipeline import unpack as unpacking
from serialpack.pipeline.line import SMALL
from serialpack.reports import PackReport, UnpackReport

JSON = b'{"id": 1, "name": "a", "tags": ["x", "y"]}\n'
#: Names and bytes, of which each is packed as its name or its bytes say.
SOURCES: dict[str, bytes] = {
    "empty": b"",
    "byte": b"\0",
    "text.txt": b"some words\n" * 20,
    "a.json": JSON,
    "indented.json": b'{\n  "id": 1,\n  "items": [\n    1,\n    2\n  ]\n}\n',
    "list.json": b'[{"a": 1}, {"a": 2}]',
    "lines.json": JSON * 3,
    "broken.json": JSON[:-3],
    "b.ndjson": JSON * 40,
    "c.csv": b"a,b\n1,2\n3,4\n",
    "d.msgpack": b"\x82\xa1a\x01\xa1b\x02" * 9,
    "marked": b"a part of a container: SPKH",
    "below": bytes(SMALL - 1),
    "most": bytes(range(256)) * (SMALL >> 8),
    "above": bytes(SMALL + 1),
}
CHAINS = [("raw", "zstd"), ("raw", "none"), ("auto", "auto"), ("json", "xz"), ("columns", "zstd")]


def packed(name: str, data: bytes, **how: Any) -> tuple[bytes, PackReport]:
    out = io.BytesIO()
    report = api.pack(io.BytesIO(data), out, identity=(name, 123456789), **how)
    return out.getvalue(), report._replace(seconds=dict.fromkeys(report.seconds, 0.0))


def unpacked(data: bytes) -> tuple[bytes, UnpackReport]:
    out = io.BytesIO()
    report = api.unpack(io.BytesIO(data), out)
    return out.getvalue(), report._replace(seconds=dict.fromkeys(report.seconds, 0.0))


def outcome(work: Callable[[], Any]) -> Any:
    """What comes of ``work``, or what it raises, in words."""
    try:
        return work()
    except serialpack.SerialpackError as error:
        return type(error), error.said


@pytest.mark.parametrize(("serializer", "codec"), CHAINS)
def test_the_straight_way_gives_the_same_as_the_long_one(
    serializer: str, codec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both there and back, whatever was packed before: bytes, reports and refusals."""
    how: list[dict[str, Any]] = [{}, {"verify": False}, {"meta": {"by": "me"}}, {"exact": True}]
    cases = [(name, data, each) for name, data in SOURCES.items() for each in how]
    all_of = {"serializer": serializer, "codec": codec, "threads": 1}

    def results() -> list[Any]:
        found = [
            outcome(partial(packed, name, data, **each, **all_of)) for name, data, each in cases
        ]
        whole = [each[0] for each in found if isinstance(each[0], bytes)]
        return [found, [outcome(partial(unpacked, data)) for data in whole]]

    straight, again = results(), results()
    monkeypatch.setattr(packing, "SMALL", -1)
    monkeypatch.setattr(unpacking, "SMALL", -1)
    assert straight == again == results()


def test_each_byte_of_a_small_container_counts_the_straight_way_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data, _ = packed("a.json", JSON)
    damaged = [data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :] for at in range(len(data))]
    straight = [outcome(partial(unpacked, each)) for each in damaged]
    monkeypatch.setattr(unpacking, "SMALL", -1)
    assert straight == [outcome(partial(unpacked, each)) for each in damaged]
    assert any(kind is DamagedError for kind, _ in straight)
    assert all(type(kind) is type for kind, _ in straight)


@pytest.mark.parametrize(
    ("name", "mtime", "error"),
    [("a", 1.5, RefusedError), ("a", 1 << 64, RefusedError), ("\ud800", 1, UsageError)],
)
def test_an_odd_name_or_time_is_refused_after_others_were_kept(
    name: str, mtime: Any, error: type[Exception]
) -> None:
    """What was read back of the first says nothing of these."""
    packed("a.json", JSON)
    with pytest.raises(error):
        api.pack(io.BytesIO(JSON), out := io.BytesIO(), format="json", identity=(name, mtime))
    assert not out.getvalue()


def calls(work: Callable[[], object]) -> int:
    """How many functions of Python ``work`` calls, once all that is kept is there."""
    work()
    count = 0

    def note(frame: Any, event: str, arg: Any) -> None:  # noqa: ARG001
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def test_a_small_file_passes_few_functions(tmp_path: Path) -> None:
    """About 300 and 250; 607 and 504 when it went the way of large ones."""
    source, target, back = (tmp_path / name for name in ("a.json", "a.json.spk", "back.json"))
    source.write_bytes(JSON * 20)
    how: dict[str, Any] = {"force": True, "threads": 1}
    assert calls(lambda: serialpack.pack(source, target, **how)) < 340
    assert calls(lambda: serialpack.unpack(target, back, **how)) < 280


@pytest.mark.parametrize(("chain", "most"), [("msgpack", 40), ("json", 55), ("pickle", 60)])
def test_a_message_passes_few_functions(chain: str, most: int) -> None:
    """There and back, proved; 60, 97 and 124 before."""
    value = {"id": 12345, "op": "update", "values": [1, 2.5, None], "key": "task-0123456789"}

    def both() -> object:
        data = serialpack.dumps(value, f"{chain}+none")
        return serialpack.loads(data, trust=True)

    assert calls(both) < most
