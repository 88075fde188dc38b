"""columns: texts of any spelling come back, whatever the size of the blocks.

Not proved while packing, for the proof would hide what does not come back.
"""

from __future__ import annotations

import io
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serialpack.columns.stored import block
from serialpack.formats import FORMATS
from serialpack.serializers.columns import ColumnsSerializer
from tests.columns import spellings
from tests.columns.test_shape import json_texts
from tests.columns.test_shape_csv import csv_texts
from tests.columns.test_shape_pack import RECORDS, values
from tests.columns.test_shape_pack import packed as message
from tests.serializers.test_columns import packed, unpacked

#: Sizes of blocks, and efforts. The last effort takes a tenth of a second for any block.
HOW = st.one_of(
    st.tuples(st.sampled_from([1, 30, 500, 1 << 16]), st.sampled_from([1, 3, 6])),
    st.just((1 << 16, 9)),
)


def check(data: bytes, format: str, block_size: int, effort: int = 3) -> None:
    """Through a container; and each block as columns, also where its text is smaller."""
    small = packed(data, format, block_size=block_size, effort=effort, threads=1, verify=False)
    assert unpacked(small, threads=1) == data
    fmt, serializer = FORMATS.get(format), ColumnsSerializer("columns", (effort,))
    for text in {bytes(each.data) for each in fmt.split(io.BytesIO(data).read, block_size)}:
        apart = serializer.apart(text, fmt.declared.columns)
        assert apart is None or block.read(apart) == text


@pytest.mark.slow
@settings(max_examples=20)
@given(st.one_of(spellings.json_texts(), json_texts()), HOW)
def test_json(data: bytes, how: tuple[int, int]) -> None:
    check(data, "json", *how)


@pytest.mark.slow
@settings(max_examples=20)
@given(spellings.ndjson_texts(), HOW)
def test_ndjson(data: bytes, how: tuple[int, int]) -> None:
    check(data, "ndjson", *how)


@pytest.mark.slow
@settings(max_examples=20)
@given(csv_texts(), st.sampled_from(["csv", "tsv"]), HOW)
def test_tables(data: bytes, format: str, how: tuple[int, int]) -> None:
    check(data, format, *how)


@pytest.mark.slow
@settings(max_examples=15)
@given(
    st.lists(st.one_of(values, st.sampled_from(RECORDS).map(message)), max_size=5),
    st.sampled_from([1, 1, 4]),
    HOW,
)
def test_messages(messages: list[bytes], times: int, how: tuple[int, int]) -> None:
    check(b"".join(messages) * times, "msgpack", *how)


def test_conformance_suite(shared_data: Path) -> None:
    files = sorted((shared_data / "conformance" / "JSONTestSuite").rglob("*.json"))
    assert len(files) > 100
    texts = [path.read_bytes() for path in files]
    for text in texts:
        check(text, "json", 1 << 16)
    for end, block_size in ((b"\n", 1), (b"\n", 1 << 20), (b"\r\n", 4096)):
        check(end.join(texts), "ndjson", block_size)


#: Real files and what they are; long ones are cut.
FILES = {
    ".json": "json",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".csv": "csv",
    ".tsv": "tsv",
}
LONGEST = 20_000


def mutated(data: bytes, chance: random.Random) -> bytes:
    """``data`` after one accident or some: bytes turned, lost or doubled, lines swapped, an end."""
    found = bytearray(data)
    for _ in range(chance.choice([1, 1, 30])):
        start = chance.randrange(len(found) or 1)
        stop = start + chance.choice([1, 1, chance.randrange(400)])
        match chance.choice(["turn", "lose", "double", "swap", "end"]):
            case "turn" if found:
                found[start] ^= 1 << chance.randrange(8)
            case "lose":
                del found[start:stop]
            case "double":
                found[start:start] = found[start:stop]
            case "swap" if found:
                lines = bytes(found).splitlines(keepends=True)
                at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
                lines[at], lines[other] = lines[other], lines[at]
                found[:] = b"".join(lines)
            case "end" if start > len(data) // 2:
                del found[start:]
    return bytes(found)


def test_real_files_after_accidents(shared_data: Path) -> None:
    folders = ("json", "ndjson", "tabular")
    files = [path for folder in folders for path in sorted((shared_data / folder).iterdir())]
    assert {path.suffix for path in files} == FILES.keys()
    for path in files:
        chance = random.Random(path.name)
        data = path.read_bytes()
        start = chance.choice([0, chance.randrange(len(data))])
        for block_size in (1500, 8000, 1 << 16):
            text = mutated(data[start : start + LONGEST], chance)
            check(text, FILES[path.suffix], block_size)
