"""Work by threads that need not be there: in order, and never waited for where there is none."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import closing

import pytest

from serialpack.threads import side_by_side


def _refused(*_: object) -> int:
    raise RuntimeError("can't start new thread")


def _never_runs(*_: object) -> int:
    """A thread that is refused the memory for its first step: it runs nothing, and says nothing."""
    return 0


@pytest.mark.parametrize("start", [None, _refused, _never_runs])
def test_in_order_with_threads_and_without(
    start: Callable[..., int] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if start is not None:
        monkeypatch.setattr("_thread.start_new_thread", start)
    assert list(side_by_side(lambda n: n * n, range(50), 4)) == [n * n for n in range(50)]


def test_threads_work_beside_each_other() -> None:
    """Each waits for the other."""
    both = threading.Barrier(2, timeout=60)
    assert sorted(side_by_side(lambda _: both.wait(), [1, 2], 2)) == [0, 1]


def test_an_error_comes_in_its_place_and_nobody_is_at_work_then() -> None:
    begun: list[int] = []
    ended: list[int] = []

    def work(n: int) -> int:
        begun.append(n)
        try:
            return 1 // (n - 3)
        finally:
            ended.append(n)

    found: list[int] = []
    with closing(side_by_side(work, range(1000), 3)) as results:
        found += [next(results), next(results), next(results)]
        with pytest.raises(ZeroDivisionError):
            next(results)
    assert found == [1 // -3, 1 // -2, 1 // -1]
    assert sorted(begun) == sorted(ended)


def test_what_was_not_begun_is_left() -> None:
    begun: list[int] = []
    with closing(side_by_side(begun.append, range(5), 1)) as results:
        next(results)
    assert begun == [0]
