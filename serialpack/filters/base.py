"""What a filter promises: a reversible rearrangement of bytes, of the same length."""

from __future__ import annotations

from abc import ABC, abstractmethod

from serialpack.stages.stage import Buffer, Stage, fail_backward, fail_forward


class Filter(Stage, ABC):
    """Rearranges a buffer so that it compresses better. ``len(forward(x)) == len(x)``."""

    def forward(self, data: Buffer) -> Buffer:
        """The rearranged bytes; SerialpackError where the filter fails, with the cause."""
        try:
            return self._forward(data)
        except BaseException as error:
            fail_forward(self.name, "rearrange", error)

    def backward(self, data: Buffer) -> Buffer:
        """The bytes that ``forward`` was given; any bytes of that length are taken. CodecError
        where the filter fails, with the cause."""
        try:
            return self._backward(data)
        except BaseException as error:
            fail_backward(self.name, "restore", error)

    @abstractmethod
    def _forward(self, data: Buffer) -> Buffer:
        """As ``forward``; may also raise the library's own errors."""

    @abstractmethod
    def _backward(self, data: Buffer) -> Buffer:
        """As ``backward``; may also raise the library's own errors."""
