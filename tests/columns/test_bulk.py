"""Pieces of bytes, told apart and put together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serialpack.columns.bulk import copying, numbering
from serialpack.columns.bulk.copying import put_together
from serialpack.columns.bulk.numbering import PADDING, tell_apart


def told_apart(texts: list[bytes], kinds: list[int]) -> tuple[list[int], list[int]]:
    lengths = np.array([len(text) for text in texts], np.int64)
    padded = np.frombuffer(b"".join(texts) + b"\xff" * PADDING, np.uint8)
    numbers, firsts = tell_apart(
        padded, np.cumsum(lengths) - lengths, lengths, np.array(kinds, np.uint8)
    )
    return numbers.tolist(), firsts.tolist()


def expected(texts: list[bytes], kinds: list[int]) -> tuple[list[int], list[int]]:
    pairs = list(zip(texts, kinds, strict=True))
    known = {pair: number for number, pair in enumerate(dict.fromkeys(pairs))}
    return [known[pair] for pair in pairs], [pairs.index(pair) for pair in known]


short = st.binary(max_size=3)
long = st.builds(lambda a, b: a + b"=" * 200 + b, short, short)
pieces = st.lists(
    st.tuples(st.one_of(short, st.binary(max_size=40), long), st.integers(0, 7)), max_size=60
).map(lambda some: some * 3)


@settings(max_examples=200, deadline=None)
@given(pieces)
def test_pieces_are_told_apart(some: list[tuple[bytes, int]]) -> None:
    texts = [text for text, _ in some]
    kinds = [kind for _, kind in some]
    assert told_apart(texts, kinds) == expected(texts, kinds)


@settings(max_examples=100, deadline=None)
@given(pieces, st.integers(1, 20), st.integers(1, 8))
def test_pieces_are_told_apart_part_by_part(
    some: list[tuple[bytes, int]], size: int, few: int
) -> None:
    texts = [text for text, _ in some]
    kinds = [kind for _, kind in some]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numbering, "_PIECES", size)
        patch.setattr(numbering, "_FEW", few)
        assert told_apart(texts, kinds) == expected(texts, kinds)


def test_digits_anywhere_are_told_apart() -> None:
    """Texts that differ in few places, as keys do that are counted."""
    texts = [b', "%dkey%d": %d' % (a, b, c) for a in range(12) for b in range(12) for c in range(9)]
    kinds = [number % 3 for number in range(len(texts))]
    assert told_apart(texts, kinds) == expected(texts, kinds)


def test_equal_hashes_do_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        numbering, "_hashes", lambda traits: traits[0] // np.uint64(512) * np.uint64(1 << 55)
    )
    texts = [b"", b"a", b"b", b"ab", b"a", b"x" * 300, b"y" * 300, b"ab", b"x" * 300] * 5
    kinds = [number % 2 for number in range(len(texts))]
    assert told_apart(texts, kinds) == expected(texts, kinds)


@settings(max_examples=200, deadline=None)
@given(
    st.binary(min_size=1, max_size=500),
    st.lists(st.tuples(st.integers(0, 499), st.integers(0, 300)), max_size=40),
)
def test_pieces_are_put_together(source: bytes, spans: list[tuple[int, int]]) -> None:
    starts = np.array([min(start, len(source)) for start, _ in spans], np.int64)
    lengths = np.array([size for _, size in spans], np.int64)
    lengths = np.minimum(lengths, len(source) - starts)
    ends = starts + lengths
    wanted = b"".join(
        source[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
    )
    array = np.frombuffer(source, np.uint8)
    assert put_together(array, starts, lengths).tobytes() == wanted
    some = np.flatnonzero(lengths == lengths[0]) if len(lengths) else starts
    again = put_together(array, starts[some], lengths[some])
    assert again.tobytes() == b"".join(source[starts[i] : ends[i]] for i in some)


@settings(max_examples=200, deadline=None)
@given(
    st.binary(min_size=1, max_size=200),
    st.lists(st.tuples(st.integers(0, 199), st.integers(0, 60)), min_size=1, max_size=40),
    st.integers(1, 9),
    st.integers(0, 2),
)
def test_pieces_are_cut_and_copied_in_steps(
    source: bytes, spans: list[tuple[int, int]], whole: int, singly: int
) -> None:
    """Pieces longer than what is copied at once, and some that stand at the end of the source."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(copying, "_WHOLE", whole)
        patch.setattr(copying, "_STEP", 3)
        patch.setattr(copying, "_ONE_BY_ONE", singly)
        test_pieces_are_put_together.hypothesis.inner_test(source, spans)  # type: ignore[attr-defined]
