"""Jobs go through worker threads in bounded number and come back in order."""

from __future__ import annotations

import _thread
import io
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

import serialpack
from serialpack.pipeline import workers
from serialpack.pipeline.workers import in_order


def plain(work: Callable[[int], int]) -> Callable[[], Callable[[int], int]]:
    return lambda: work


class Block:
    """A job whose end can be seen."""


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 2, 50])
def test_results_come_in_the_order_of_the_jobs(threads: int, count: int) -> None:
    def work(job: int) -> int:
        time.sleep(0.001 * (job % 3))
        return job * job

    done = list(in_order(iter(range(count)), plain(work), threads))
    assert done == [(n, n * n) for n in range(count)]


def seeing(seen: list[threading.Thread]) -> Callable[[int], int]:
    """Work that adds the thread that it is done in to ``seen``."""

    def work(job: int) -> int:
        seen.append(threading.current_thread())
        return job

    return work


def test_a_single_job_starts_no_thread() -> None:
    here = threading.current_thread()
    seen: list[threading.Thread] = []
    work = seeing(seen)
    assert list(in_order(iter([7]), plain(work), 4)) == [(7, 7)]
    assert seen == [here]


def test_a_few_small_jobs_start_no_thread() -> None:
    here = threading.current_thread()
    seen: list[threading.Thread] = []
    work = seeing(seen)

    def little(jobs: Sequence[int]) -> bool:
        return sum(jobs) <= 10

    assert list(in_order(iter([2, 3, 4]), plain(work), 2, inline=little)) == [(n, n) for n in (2, 3, 4)]  # noqa: E501 # fmt: skip
    assert seen == [here] * 3
    seen.clear()
    assert len(list(in_order(iter([2, 3, 6]), plain(work), 2, inline=little))) == 3
    assert here not in seen
    seen.clear()
    many = [0] * 5  # more than may be held
    assert len(list(in_order(iter(many), plain(work), 2, inline=little))) == 5
    assert here not in seen


def test_an_error_behind_a_few_small_jobs_comes_behind_their_results() -> None:
    def jobs() -> Iterator[int]:
        yield from (1, 2)
        raise ValueError("third")

    done = in_order(jobs(), plain(lambda n: n), 2, inline=lambda _: True)
    assert [next(done), next(done)] == [(1, 1), (2, 2)]
    with pytest.raises(ValueError, match="third"):
        next(done)


def test_each_thread_makes_one_worker() -> None:
    made: list[int] = []

    def make() -> Callable[[int], int]:
        made.append(threading.get_ident())
        return lambda job: job

    assert len(list(in_order(iter(range(100)), make, 3))) == 100
    assert len(made) == len(set(made)) <= 3


def test_the_first_jobs_are_let_go_before_the_last_is_done() -> None:
    """They were held to the end: two blocks more in memory, which may be of 64 MiB each."""
    begun: list[weakref.ref[Block]] = []

    def jobs() -> Iterator[Block]:
        for _ in range(40):
            job = Block()
            begun.append(weakref.ref(job))
            yield job
            del job

    done = in_order(jobs(), lambda: id, 2)
    for _ in range(30):
        next(done)
    until = time.monotonic() + 60
    while any(job() is not None for job in begun[:2]) and time.monotonic() < until:
        time.sleep(0.01)  # a thread may stand right behind its job
    assert [job() for job in begun[:2]] == [None, None]
    done.close()


def test_a_thread_that_stands_still_when_it_is_done_holds_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It held what it had made, one block more than is counted, if it got no processor then."""
    on = threading.Event()

    class Lock:
        def __init__(self, lock: threading.Lock) -> None:
            self.lock = lock

        def acquire(self, *, timeout: float) -> bool:
            return self.lock.acquire(timeout=timeout)

        def release(self) -> None:
            self.lock.release()
            on.wait(60)

    slot_of = workers._Slot

    def slot(job: Any) -> Any:
        made: Any = slot_of(job)
        made.done = Lock(made.done)
        return made

    monkeypatch.setattr(workers, "_Slot", slot)
    done = in_order(iter(range(3)), lambda: lambda _: Block(), 1)
    result = weakref.ref(next(done)[1])
    done.close()
    assert result() is None
    on.set()


def test_jobs_held_at_once_are_bounded_however_slow_the_writer() -> None:
    taken = 0

    def jobs() -> Iterator[int]:
        nonlocal taken
        for n in range(200):
            taken = n + 1
            yield n

    threads = 2
    for given, (_, result) in enumerate(in_order(jobs(), plain(lambda n: n), threads)):
        assert result == given
        if given < 5:
            time.sleep(0.05)
        # One more may have been taken and wait for room.
        assert taken - given <= threads + 2 + 1


def test_jobs_held_at_once_have_no_more_bytes_than_may_be() -> None:
    """Four large blocks, where each was one record, were worked on at once."""
    sizes = [1, 1, 1, 9, 2, 3, 1, 20, 30, 1, 1, 1, 1]
    here: list[int] = []
    most: list[int] = []

    def work(job: int) -> int:
        here.append(job)
        most.append(sum(here) if len(here) > 1 else 0)
        time.sleep(0.001)
        return job

    for given, _ in in_order(iter(sizes), plain(work), 2, weight=lambda job: job, most=4):
        here.remove(given)
    assert len(most) == len(sizes)
    assert max(most) <= 4


def test_an_error_comes_in_its_jobs_place_and_ends_the_line() -> None:
    def work(job: int) -> int:
        if job == 5:
            raise ValueError("five")
        return job

    got = []
    with pytest.raises(ValueError, match="five"):
        for _, result in in_order(iter(range(1000)), plain(work), 3):
            got.append(result)
    assert got == [0, 1, 2, 3, 4]


def test_an_error_of_the_source_comes_after_what_was_read() -> None:
    def jobs() -> Iterator[int]:
        yield from range(4)
        raise OSError("disk gone")

    got = []
    with pytest.raises(OSError, match="disk gone"):
        for _, result in in_order(jobs(), plain(lambda n: n), 2):
            got.append(result)
    assert got == [0, 1, 2, 3]


def test_a_caller_that_stops_early_ends_the_threads() -> None:
    before = _thread._count()
    closed: list[bool] = []

    class Worker:
        def __call__(self, job: int) -> int:
            return job

        def close(self) -> None:
            closed.append(True)

    results = in_order(iter(range(10_000)), Worker, 3)
    assert next(results) == (0, 0)
    results.close()
    for _ in range(200):
        if closed and _thread._count() <= before:  # those of other tests may end meanwhile
            break
        time.sleep(0.01)
    assert _thread._count() <= before
    assert closed


@pytest.mark.parametrize("which", [0, 1, 2])
def test_a_thread_that_never_began_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, which: int
) -> None:
    """As one that was refused the memory for its first step: it lets go of what it was given."""

    def slow(job: int) -> int:
        time.sleep(0.01)
        return job

    start = _thread.start_new_thread
    count = iter(range(3))

    def begun(run: Callable[..., None], told: tuple[object, ...]) -> int:
        return start((lambda *_: None) if next(count) == which else run, told)

    monkeypatch.setattr(_thread, "start_new_thread", begun)
    monkeypatch.setattr("serialpack.threads._GLANCE", 0.01)
    with pytest.raises(MemoryError):
        list(in_order(iter(range(100)), plain(slow), 2))


@pytest.mark.parametrize("starts", [0, 1, 2, 3])
def test_threads_that_do_not_start_are_done_without(
    monkeypatch: pytest.MonkeyPatch, starts: int
) -> None:
    """One that feeds and one that works are enough; where there are fewer, it is memory."""
    start, left = _thread.start_new_thread, [starts]

    def begun(run: Callable[..., None], told: tuple[object, ...]) -> int:
        if not left[0]:
            raise RuntimeError("can't start new thread")
        left[0] -= 1
        return start(run, told)

    monkeypatch.setattr(_thread, "start_new_thread", begun)
    before = threading.active_count()
    if starts < 2:
        with pytest.raises(MemoryError):
            list(in_order(iter(range(50)), plain(lambda job: job), 4))
        while threading.active_count() > before:
            time.sleep(0.001)
        return
    done = list(in_order(iter(range(50)), plain(lambda job: job), 4))
    assert done == [(n, n) for n in range(50)]


def test_a_thread_that_has_done_its_jobs_is_not_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("serialpack.threads._GLANCE", 0.001)

    def work(job: int) -> int:
        time.sleep(0.05 * (job == 1))
        return job

    assert len(list(in_order(iter(range(2)), plain(work), 5))) == 2


def test_an_error_for_which_nothing_can_be_done_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory may be refused to who handles that memory was refused."""
    monkeypatch.setattr(workers, "MemoryError", None, raising=False)  # isinstance fails
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)

    def work(job: int) -> int:
        return 1 // (job - 3)

    with pytest.raises(ZeroDivisionError):
        list(in_order(iter(range(5)), plain(work), 2))


def test_a_reader_that_hangs_does_not_keep_the_process() -> None:
    """The reading thread is a daemon: an endless read never stops the program from ending."""
    import subprocess

    code = (
        "import itertools, time\n"
        "from serialpack.pipeline.workers import in_order\n"
        "jobs = (n if n < 3 else time.sleep(600) for n in itertools.count())\n"
        "results = in_order(jobs, lambda: lambda n: n, 2)\n"
        "print([next(results)[1] for _ in range(3)])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "[0, 1, 2]\n"


def test_a_single_large_job_leaves_this_thread_to_signals() -> None:
    here = threading.current_thread()
    seen: list[threading.Thread] = []

    def work(job: int) -> int:
        seen.append(threading.current_thread())
        return job

    assert list(in_order(iter([7]), plain(work), 4, inline=lambda _: False)) == [(7, 7)]
    assert len(seen) == 1
    assert seen != [here]


def test_a_block_that_nothing_compresses_is_worked_on_in_this_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = b'{"a": [%b0]}' % (b"12345678, " * 100_000)
    packed, unpacked = io.BytesIO(), io.BytesIO()
    monkeypatch.setattr(_thread, "start_new_thread", None)
    serialpack.pack(
        io.BytesIO(text), packed, serializer="msgpack", codec="none", format="json", threads=2
    )
    packed.seek(0)
    serialpack.unpack(packed, unpacked, threads=2)
    assert unpacked.getvalue() == text
