"""``RangedFile`` fetches what is asked for, and reads ahead only who reads on."""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Callable
from random import Random

import pytest

from serialpack.far.reading import RangedFile
from tests.far.server import wait_until

DATA = Random(1).randbytes(1 << 20) * 40
LEAST, MOST = 64 << 10, 8 << 20


class Fetches:
    """Parts of ``DATA``, and which were asked for."""

    def __init__(self) -> None:
        self.ranges: list[tuple[int, int]] = []
        self.threads: set[int] = set()
        self.fails = False

    def __call__(self, start: int, stop: int) -> bytes:
        self.ranges.append((start, stop))
        self.threads.add(threading.get_ident())
        if self.fails:
            raise OSError("the line is dead")
        return DATA[start:stop]

    def opened(self, size: int = len(DATA)) -> RangedFile:
        found = os.stat_result((0o100644, 0, 0, 1, 0, 0, size, 0, 0, 0))
        return RangedFile(self, found, lambda: found, lambda: None)


def test_a_place_costs_one_small_request() -> None:
    fetches = Fetches()
    file = fetches.opened()
    for place in (30 << 20, 100, 10 << 20):
        file.seek(place)
        assert file.read(10) == DATA[place : place + 10]
    at = (0, 30 << 20, 10 << 20)
    assert fetches.ranges == [(place, place + LEAST) for place in at]


def test_what_is_asked_for_is_one_request() -> None:
    fetches = Fetches()
    file = fetches.opened()
    file.seek(5 << 20)
    assert file.read(3 << 20) == DATA[5 << 20 : 8 << 20]
    assert fetches.ranges == [(0, LEAST), (5 << 20, 8 << 20)]


def test_the_end_stays_at_hand() -> None:
    """A container is opened by its front, its end, its front again."""
    fetches = Fetches()
    file = fetches.opened()
    for place in (0, len(DATA) - LEAST, 200, len(DATA) - 100, 0):
        file.seek(place)
        assert file.read(50) == DATA[place : place + 50]
    assert fetches.ranges == [(0, LEAST), (len(DATA) - LEAST, len(DATA))]


@pytest.mark.parametrize("piece", [1000, 100_000, 4 << 20])
def test_who_reads_on_is_read_ahead(piece: int) -> None:
    """In few requests that are never more than twice what was read, and not over the end."""
    fetches = Fetches()
    file = fetches.opened()
    done = 0
    while data := file.read(piece):
        assert data == DATA[done : done + len(data)]
        done += len(data)
        asked = sum(stop - start for start, stop in fetches.ranges)
        assert asked <= 2 * done + LEAST or asked - done <= 2 * MOST
    assert done == len(DATA)
    assert len(fetches.ranges) <= 14
    assert [start for start, _ in fetches.ranges[1:]] == [stop for _, stop in fetches.ranges[:-1]]
    assert len(fetches.threads) > 1  # the next piece came while one was worked on


def test_no_place_is_before_the_front() -> None:
    file = Fetches().opened()
    assert file.seek(-1, io.SEEK_END) == len(DATA) - 1
    with pytest.raises(ValueError, match="before the front"):
        file.seek(-len(DATA), io.SEEK_CUR)
    assert file.tell() == len(DATA) - 1
    file.close()
    with pytest.raises(ValueError, match="the file is closed"):
        file.read(1)


def test_memory_is_bounded() -> None:
    file = Fetches().opened()
    held: Callable[[], int] = lambda: sum(len(data) for _, data in file._pieces)  # noqa: E731
    while file.read(1 << 20):
        assert held() <= 3 * MOST


def test_an_error_of_what_was_read_ahead_is_raised_when_it_is_needed() -> None:
    fetches = Fetches()
    file = fetches.opened()
    while not file._ahead:
        file.read(1 << 20)
    count = len(fetches.ranges)
    wait_until(lambda: file._ahead is not None and file._ahead[1].done())
    fetches.fails = True
    with pytest.raises(OSError, match="the line is dead"):
        while file.read(1 << 20):
            pass
    assert len(fetches.ranges) > count


def test_seeks_as_files_do() -> None:
    file = Fetches().opened(1000)
    assert (file.seek(-10, os.SEEK_END), file.read(), file.read(1)) == (990, DATA[990:1000], b"")
    assert (file.seek(5), file.seek(5, os.SEEK_CUR), file.tell()) == (5, 10, 10)
    buffer = bytearray(4)
    assert file.readinto(memoryview(buffer)) == 4
    assert buffer == DATA[10:14]
    with pytest.raises(ValueError, match="before the front"):
        file.seek(-1)
    file.close()
    with pytest.raises(ValueError, match="closed"):
        file.read(1)


def test_an_empty_file_is_empty() -> None:
    assert Fetches().opened(0).read() == b""
