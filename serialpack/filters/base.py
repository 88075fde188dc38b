"""What a filter promises: a reversible rearrangement of bytes, of the same length."""

from __future__ import annotations

from abc import ABC, abstractmethod

from serialpack.stages.stage import Buffer, Stage


class Filter(Stage, ABC):
    """Rearranges a buffer so that it compresses better. ``len(forward(x)) == len(x)``."""

    @abstractmethod
    def forward(self, data: Buffer) -> Buffer:
        """The rearranged bytes."""

    @abstractmethod
    def backward(self, data: Buffer) -> Buffer:
        """The bytes that ``forward`` was given; defined for every input."""
