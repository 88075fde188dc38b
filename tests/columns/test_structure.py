"""The bytes of a structure: what is broken in them is said, and costs nothing."""

from __future__ import annotations

import random
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serialpack.columns.parse.nodes import SCALAR, STRING, Node
from serialpack.columns.parse.shape import join, split
from serialpack.columns.stored import structure
from serialpack.columns.stored import walk as _walk
from serialpack.columns.stored.streams import effort
from serialpack.columns.stored.structure import TextShape
from serialpack.columns.stored.wire import WireReader
from serialpack.columns.texts import Broken, Texts

chance = random.Random(7)
TEXTS = {
    "json": b"["
    + b",\n".join(
        b'{"id": %d, "tags": [%b], "on": %b, "by": {"%032x": [%d, null]}}'
        % (
            number,
            b", ".join(b'"x"' for _ in range(chance.randrange(4))),
            chance.choice([b"true", b"false", b"null"]),
            chance.getrandbits(128),
            number,
        )
        for number in range(700)
    )
    + b"]\n",
    "csv": b"a,b\n"
    + b"".join(b'%d,"%d"\n' % (n, n) if n % 3 else b"%d,%d\n" % (n, n) for n in range(500)),
}


@pytest.mark.parametrize("kind", TEXTS)
def test_flipped_bytes_are_broken_or_harmless(kind: str) -> None:
    """Whatever comes of it is no larger than was allowed."""
    text = TEXTS[kind]
    found = split(text, kind)
    assert found is not None
    stored = structure.write(found.shape, 3)
    flips = random.Random(kind)
    broken = 0
    for _ in range(1500):
        changed = bytearray(stored)
        for _ in range(flips.choice([1, 1, 4])):
            changed[flips.randrange(len(changed))] ^= 1 << flips.randrange(8)
        try:
            shape = structure.read(bytes(changed), len(text))
            assert shape.size <= len(text)
            columns = [Texts.from_list([b"1"] * number) for number in shape.numbers]
            assert len(join(shape, columns)) <= 2 * len(text)
            assert shape.records <= len(text)
        except Broken:
            broken += 1
    assert broken > 500


@pytest.mark.parametrize("kind", TEXTS)
def test_what_ends_early_is_broken(kind: str) -> None:
    found = split(TEXTS[kind], kind)
    assert found is not None
    stored = structure.write(found.shape, 3)
    for size in range(len(stored)):
        with pytest.raises(Broken):
            structure.read(stored[:size], len(TEXTS[kind]))
    with pytest.raises(Broken):
        structure.read(stored + b"\0", len(TEXTS[kind]))


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=80))
def test_rubbish_is_broken(data: bytes) -> None:
    for head in (b"", b"\1\0"):
        try:
            structure.read(head + data, 1000)
        except Broken:
            continue


def test_a_structure_of_a_larger_text_is_refused() -> None:
    found = split(TEXTS["json"], "json")
    assert found is not None
    stored = structure.write(found.shape, 3)
    for limit in (0, 100, found.shape.size - 1):
        with pytest.raises(Broken):
            structure.read(stored, limit)
    structure.read(stored, found.shape.size)


def shape_of(texts: list[bytes], walk: list[int]) -> TextShape:
    nodes = [Node(text, SCALAR, 0) for text in texts]
    return TextShape("json", nodes, np.array(walk, np.int32), b"", [])


def test_little_cannot_become_much() -> None:
    """A megabyte before each of a million values, said in few bytes."""
    bomb = structure.write(shape_of([b" ", b" " * 1_000_000], [0, *[1] * 1_000_000]), 3)
    assert len(bomb) < 1000
    tracemalloc.start()
    with pytest.raises(Broken):
        structure.read(bomb, 4 << 20)
    assert tracemalloc.get_traced_memory()[1] < 128 << 20
    tracemalloc.stop()


def test_an_endless_walk_is_broken() -> None:
    # Two nodes that always follow one another.
    table = bytes([1, 0, 1, 3])
    with pytest.raises(Broken, match="no end"):
        _walk.read(WireReader(table), WireReader(b""), 2, 1000)


def test_columns_must_be_of_the_right_length() -> None:
    found = split(TEXTS["csv"], "csv")
    assert found is not None
    shape, columns = found
    for wrong in (
        columns[:-1],
        [*columns[:-1], Texts.from_list([b"1"] * 3)],
        [*columns, columns[0]],
    ):
        with pytest.raises(Broken):
            join(shape, wrong)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=400), st.integers(1, 60))
def test_walks_come_back(numbers: list[int], times: int) -> None:
    """Long and short ones, with few decisions and many."""
    assert there_and_back(numbers * times) == numbers * times


@pytest.mark.parametrize("odd", [0, 0.01, 0.3])
@pytest.mark.parametrize("most", [1, 3, 40])
def test_walks_through_records_come_back(most: int, odd: float) -> None:
    """Fields in turn; one of two kinds, lists of some length, and some in another order."""
    chance = random.Random(f"{most} {odd}")
    numbers: list[int] = []
    for _ in range(2000):
        fields = [[0], [chance.choice((1, 2))], [3], [4] * chance.randrange(most + 1), [5]]
        if chance.random() < odd:
            chance.shuffle(fields)
        numbers += (number for field in fields for number in field)
    assert there_and_back(numbers) == numbers


def there_and_back(numbers: list[int]) -> list[int]:
    """A walk, whose nodes may have any numbers."""
    nodes = list(dict.fromkeys(numbers))
    walk = np.array([nodes.index(number) for number in numbers], np.int32)
    table, decisions = _walk.write(walk, len(nodes), effort(3))
    again = _walk.read(WireReader(table), WireReader(decisions), len(nodes), len(walk))
    return [nodes[place] for place in again.tolist()]


def test_texts_with_control_bytes_are_kept() -> None:
    data = b"".join(b'{"a\x01": %d, "b\x00": "x%d"}\n' % (n, n) for n in range(30))
    found = split(data, "json")
    assert found is not None
    assert {column.kind for column in found.shape.columns} == {SCALAR, STRING}
    again = structure.read(structure.write(found.shape, 3), len(data))
    assert again.nodes == found.shape.nodes


@pytest.mark.parametrize(
    ("walk", "number", "ordered"),
    [
        ([], 0, True),
        ([], 1, False),
        ([0, 1, 0, 2, 1], 3, True),
        ([0, 2, 1], 3, False),
        ([1, 0], 2, False),
        ([0, 1, 0], 3, False),
        ([0, 1, 3], 4, False),
    ],
)
def test_nodes_are_in_order(walk: list[int], number: int, ordered: bool) -> None:
    """As they are met first, and each of them is."""
    assert structure._is_ordered(np.array(walk, np.int32), number) is ordered
