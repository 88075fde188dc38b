"""What filters of little-endian integers have in common."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from serialpack.filters.base import Filter
from serialpack.stages.stage import Buffer, Param

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The size of an integer in bytes.
ITEM_SIZE = Param("itemsize", 1, 8, 4, only=(1, 2, 4, 8))

#: How many items on the one is that an item is compared with: one, a row of a picture, a picture of
#: a stack.
LAG = Param("lag", 2, 1 << 31, 0, mark="@")

#: NumPy adds up columns fast where rows have at most so many items, and rows where they have at
#: least so many.
_FEW, _MANY = 16, 2048


class IntegerFilter(Filter):
    """A filter of ``n`` little-endian integers of ``k`` bytes. A rest of fewer bytes stays at the
    end."""

    library = "numpy"
    params: ClassVar[tuple[Param, ...]] = (ITEM_SIZE,)

    def _forward(self, data: Buffer) -> Buffer:
        return self._applied(data, self.arranged)

    def _backward(self, data: Buffer) -> Buffer:
        return self._applied(data, self.restored)

    @abstractmethod
    def arranged(self, numbers: NDArray[Any], out: NDArray[Any]) -> None:
        """Write to ``out`` what ``numbers`` become; both are unsigned, of one length."""

    @abstractmethod
    def restored(self, numbers: NDArray[Any], out: NDArray[Any]) -> None:
        """Write to ``out`` what ``arranged`` made ``numbers`` of."""

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
    """A filter of each integer and the one ``lag`` before it. The first ``lag`` stay as they
    are."""

    params = (ITEM_SIZE, LAG)

    @property
    def lag(self) -> int:
        return self.values[1] or 1

    def arranged(self, numbers: NDArray[Any], out: NDArray[Any]) -> None:
        lag = self.lag
        out[:lag] = numbers[:lag]
        self.ufunc(numbers[lag:], numbers[:-lag], out=out[lag:])

    def restored(self, numbers: NDArray[Any], out: NDArray[Any]) -> None:
        numbers, lag = self._apart(numbers, out)
        inverse, count = self.inverse, len(numbers)
        if lag > _FEW:
            out[:lag] = numbers[:lag]
            for start in range(lag, count, lag):
                stop = min(start + lag, count)
                before = out[start - lag : stop - lag]
                inverse(numbers[start:stop], before, out=out[start:stop])
            return
        whole = count // lag * lag
        rows = -1, lag
        inverse.accumulate(numbers[:whole].reshape(rows), axis=0, out=out[:whole].reshape(rows))
        out[whole:] = numbers[whole:]
        if whole and whole < count:
            before = out[whole - lag : count - lag]
            inverse(out[whole:], before, out=out[whole:])

    def _apart(self, numbers: NDArray[Any], out: NDArray[Any]) -> tuple[NDArray[Any], int]:
        """``numbers`` and a larger lag, by which NumPy undoes the same faster; ``out`` may be
        written to.

        Each number plus the one ``lag`` before it is a difference at twice the lag: (1 - S)(1 + S)
        is 1 - S^2, also for XOR.
        """
        import numpy as np

        source, lag, target = numbers, self.lag, out
        enough = 2 if lag == 1 else lag if lag <= _FEW else _MANY
        while lag < min(enough, len(numbers)):
            target[:lag] = numbers[:lag]
            self.inverse(numbers[lag:], numbers[:-lag], out=target[lag:])
            free = np.empty_like(out) if numbers is source else numbers
            numbers, target = target, free
            lag *= 2
        return numbers, lag

    @property
    @abstractmethod
    def ufunc(self) -> Any:
        """The operation on an integer and the one ``lag`` before it."""

    @property
    @abstractmethod
    def inverse(self) -> Any:
        """The operation that undoes ``ufunc``, from the first integer on."""
