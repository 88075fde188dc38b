"""Bytes that nothing makes smaller."""

from __future__ import annotations

from random import Random


def noise(size: int, seed: int = 1) -> bytes:
    """``size`` bytes as if drawn by chance, the same in every run: of those that are, one file in
    ten thousand begins as gzip or a program does, and one byte in 256 is what damage makes it."""
    return Random(seed).randbytes(size)
