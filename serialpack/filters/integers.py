"""Filters of little-endian integers: what they have in common."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from serialpack.filters.base import Filter
from serialpack.stages.stage import Buffer, Param

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The size of an integer in bytes.
ITEM_SIZE = Param("itemsize", 1, 8, 4, only=(1, 2, 4, 8))

#: How many items lie between two that are compared: one row of a picture, one picture of a stack.
LAG = Param("lag", 2, 1 << 31, 0, mark="@")


class IntegerFilter(Filter):
    """Of ``n`` little-endian integers of ``k`` bytes; a rest of fewer stays at the end."""

    library = "numpy"
    params: ClassVar[tuple[Param, ...]] = (ITEM_SIZE,)

    def forward(self, data: Buffer) -> Buffer:
        return self._applied(data, self.arranged)

    def backward(self, data: Buffer) -> Buffer:
        return self._applied(data, self.restored)

    @abstractmethod
    def arranged(self, numbers: NDArray[Any], out: NDArray[Any]) -> None:
        """Write to ``out`` what ``numbers`` become; both are unsigned, of one length."""

    @abstractmethod
    def restored(self, numbers: NDArray[Any], out: NDArray[Any]) -> None:
        """The inverse."""

    def _applied(self, data: Buffer, change: Any) -> Buffer:
        import numpy as np

        k = self.values[0]
        n = len(data) // k
        if not n:
            return data
        out = np.empty(len(data), np.uint8)
        change(np.frombuffer(data, f"<u{k}", n), out[: n * k].view(f"<u{k}"))
        out[n * k :] = np.frombuffer(data, np.uint8)[n * k :]
        return out.data


class LaggedFilter(IntegerFilter):
    """Of each integer and the one ``lag`` before it; the first ``lag`` stay as they are."""

    params = (ITEM_SIZE, LAG)

    @property
    def lag(self) -> int:
        return self.values[1] or 1

    def arranged(self, numbers: NDArray[Any], out: NDArray[Any]) -> None:
        lag = self.lag
        out[:lag] = numbers[:lag]
        self.ufunc(numbers[lag:], numbers[:-lag], out=out[lag:])

    def restored(self, numbers: NDArray[Any], out: NDArray[Any]) -> None:
        lag = self.lag
        rows = len(numbers) // lag
        whole = rows * lag
        if rows:
            shape = rows, lag
            accumulate = self.inverse.accumulate
            accumulate(numbers[:whole].reshape(shape), axis=0, out=out[:whole].reshape(shape))
        rest = len(numbers) - whole
        out[whole:] = numbers[whole:]
        if rows and rest:
            self.inverse(out[whole:], out[whole - lag : whole - lag + rest], out=out[whole:])

    @property
    @abstractmethod
    def ufunc(self) -> Any:
        """What is done with an integer and the one before it."""

    @property
    @abstractmethod
    def inverse(self) -> Any:
        """What undoes that, from the first integer on."""
