"""Lines that are records: counted and found as a slow oracle does, blank ones passed over."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from random import Random

import pytest

from serialpack.formats.shared import lines as _lines
from serialpack.formats.shared.lines import (
    BLANK,
    LINE_ENDS,
    count_lines,
    line_range,
    lines_in_pieces,
)

#: Mostly what may make a line blank; NUL, vertical tab and no-break space do not.
_BITS = (b"\n", b"\n", b"\r\n", b"\n\n", b" ", b"\t", b"\r", b"{}", b"x" * 9, b"\0", b"\v", b"\xa0")


def texts(count: int) -> Iterator[tuple[Random, bytes]]:
    for seed in range(count):
        r = Random(seed)
        bits = _BITS if seed % 3 else (b"{}\n", b'{"a": 1}\n', b" []\r\n" if seed % 2 else b"1\n")
        yield r, b"".join(r.choices(bits, k=r.randrange(40)))


def oracle(text: bytes, blank: bytes) -> list[bytes]:
    """The lines that are not blank, without their ends."""
    lines = [line for line in text.split(b"\n") if any(byte not in blank for byte in line)]
    return [line[:-1] if line.endswith(b"\r") else line for line in lines]


@pytest.mark.parametrize("at_once", [1 << 20, 5])
@pytest.mark.parametrize("blank", [BLANK, LINE_ENDS])
def test_lines_are_counted(blank: bytes, at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_lines, "_COUNTED", at_once)
    for r, text in texts(3000):
        before, behind = (r.randbytes(r.randrange(4)) for _ in range(2))
        buf = bytearray(before + text + behind)
        start, end = len(before), len(before) + len(text)
        assert count_lines(buf, start, end, blank) == len(oracle(text, blank)), text


def test_lines_are_found_in_pieces() -> None:
    found = 0
    for r, text in texts(3000):
        lines = oracle(text, BLANK)
        for _ in range(3):
            low = r.randrange(len(lines) + 1)
            high = r.randint(low + 1, low + 4)
            cuts = sorted(r.randrange(len(text) + 1) for _ in range(r.randrange(6)))
            ends = [0, *cuts, len(text)]
            pieces = [text[a:b] for a, b in pairwise(ends)]
            answer = lines_in_pieces(iter(pieces), (low, high))
            whole = len(oracle(text[: text.rfind(b"\n") + 1], BLANK))
            assert (answer is not None) == (high <= whole), (text, low, high)
            if answer is None:
                continue
            stretch, start, end = answer
            assert oracle(stretch[start:end] + b"\r\n", BLANK) == lines[low:high], (text, low, high)
            assert not stretch[:end].endswith((b"\n", b"\r\n"))
            found += 1
            if len(lines) == text.count(b"\n") and text.endswith(b"\n"):
                # Without blank lines the other way finds the same.
                span = line_range(text, (low, high), len(lines))
                assert span is not None
                assert text[slice(*span)] == stretch[start:end]
    assert found > 1000


def test_no_piece_is_taken_behind_the_lines() -> None:
    taken = 0

    def pieces() -> Iterator[bytes]:
        nonlocal taken
        for number in range(100):
            taken += 1
            yield b"%d\n" % number * 10

    answer = lines_in_pieces(pieces(), (105, 107))
    assert answer is not None
    text, start, end = answer
    assert (text[start:end], taken) == (b"10\n10", 11)
    assert len(text) < 100
