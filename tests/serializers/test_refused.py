"""Of many parts, the first that is refused alone is found by trying few of them alone."""

from __future__ import annotations

import pytest

from serialpack.serializers.refused import first_refused


@pytest.mark.parametrize("bad", [[], [0], [999], [500, 501], [3, 998]])
def test_the_first_is_found_in_few_tries(bad: list[int]) -> None:
    """Each part was tried alone, a minute for a map of half a million."""
    tries = []

    def refused(some: list[int]) -> bool:
        tries.append(len(some))
        return not set(bad).isdisjoint(some)

    assert first_refused(list(range(1000)), refused) == (bad[0] if bad else -1)
    assert len(tries) < 25


def test_what_is_refused_together_alone_is_not_found() -> None:
    assert first_refused([1, 2, 3], lambda some: len(some) > 1) == -1
    assert first_refused([], lambda _: True) == -1
