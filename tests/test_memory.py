"""Large bytes made of pieces."""

from __future__ import annotations

import re
import sys
import tracemalloc
from pathlib import Path

import pytest

from serialpack.memory import Growing, joined
from serialpack.stages.stage import Buffer

MEGABYTE = 1 << 20
#: Large enough to lie in fresh memory, and in several pieces of which one is no bytes.
PIECES: list[Buffer] = [b"head", memoryview(bytearray(b"x" * 34 * MEGABYTE)), b"", b"end"]


def test_pieces_become_one() -> None:
    assert joined(PIECES) == b"".join(PIECES)
    assert joined([b"a", bytearray(b"bc")]) == b"abc"
    assert joined([]) == b""


def test_no_second_copy_is_made() -> None:
    tracemalloc.start()
    try:
        whole = joined(PIECES)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < len(whole) + MEGABYTE


@pytest.mark.skipif(sys.platform != "linux", reason="asks for huge pages on Linux only")
def test_it_lies_on_huge_pages() -> None:
    """Which were asked for: ``hg`` among the flags of its memory (proc_pid_smaps(5))."""
    if not Path("/sys/kernel/mm/transparent_hugepage").exists():
        pytest.skip("this system has no transparent huge pages")
    whole = joined(PIECES)
    middle = id(whole) + len(whole) // 2
    flags = ""
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if place := re.match(r"([0-9a-f]+)-([0-9a-f]+) ", line):
            inside = int(place[1], 16) <= middle < int(place[2], 16)
        elif inside and line.startswith("VmFlags:"):
            flags = line
    assert " hg" in flags


def test_bytes_grow_where_they_lie() -> None:
    """And can be written to, to their end."""
    growing = Growing()
    pieces = [bytes([n]) * (1 << n) for n in range(22)]
    for piece in pieces:
        growing.add(piece)
    whole = growing.whole()
    assert whole == b"".join(pieces)
    whole[-1] = 1
    assert bytes(whole[-2:]) == b"\x15\x01"
