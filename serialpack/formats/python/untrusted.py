"""Formats whose reading can run code, or crash: told by a look at their bytes, loaded on trust."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

from serialpack.depth import TooDeep
from serialpack.depth.values import check_graph
from serialpack.errors import InputError
from serialpack.formats.base import Difference, SourceBlock, Unheld, depth_loss
from serialpack.formats.shared.document import DocumentFormat, Malformed, compared
from serialpack.stages.stage import Buffer


class UnsafeFormat(DocumentFormat):
    """Only ``read`` and ``load`` build objects: whoever calls them was told to trust the bytes."""

    safe: ClassVar[bool] = False

    @abstractmethod
    def survey(self, data: bytes) -> int:
        """How many records ``data`` is; Malformed where it is none. Builds and runs nothing."""

    @abstractmethod
    def load(self, data: Buffer) -> list[Any]:
        """The records of bytes that were surveyed, or that ``write`` wrote.

        Malformed where that cannot be, say because a class is not there any more.
        """

    def read(self, data: bytes) -> list[Any]:
        self.survey(data)
        records = self._load(data)
        _check_depth(records)
        return records

    def read_written(self, data: bytes) -> list[Any]:
        return self.load(data)

    def count(self, block: SourceBlock) -> int:
        """How many records a whole source is; SyntaxInputError where it is none. Runs nothing."""
        try:
            return self.survey(bytes(block.data))
        except Malformed as bad:
            raise self._placed(block, bad) from None

    def difference(self, block: SourceBlock, restored: Buffer) -> Difference | None:
        """As of any format; but both were surveyed before, so ``load`` may read them."""
        return compared(self._load(bytes(block.data)), self._load(bytes(restored)))

    def _load(self, data: bytes) -> list[Any]:
        try:
            return self.load(data)
        except Malformed as bad:
            hint = f"pack -s raw or -s {self.name} keeps the bytes"
            raise InputError(f"cannot be loaded: {bad.message}", hint=hint, start=bad.at) from None


def _check_depth(records: list[Any]) -> None:
    """Unheld, with its number, for the first record that is nested too deeply."""
    try:
        check_graph(records)
        return
    except TooDeep:
        pass
    for number, record in enumerate(records):
        try:
            check_graph([record])
        except TooDeep:
            raise Unheld(depth_loss(number)) from None
