"""Values nested within each other, and serializers given them on a small stack."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from serialpack.depth import MAX_DEPTH
from serialpack.serializers.base import FAILURES, RecordSerializer
from serialpack.values.equality import difference

Wrap = Callable[[Any], Any]


def nested(depth: int, wrap: Wrap, value: Any = 1) -> Any:
    """``value`` within ``depth`` containers that ``wrap`` makes."""
    for _ in range(depth):
        value = wrap(value)
    return value


def tried_on_a_small_stack(
    create: Callable[[], RecordSerializer], wrap: Wrap, innermost: Any = 1
) -> list[object]:
    """What becomes, in a thread with 512 KiB of stack, of five depths up to ``MAX_DEPTH``, of two
    far beyond, and of a cycle: the difference that was found, or ``"refused"``.
    """
    found: list[object] = []
    # Let go of outside of the thread: Python 3.13 itself calls itself for each map of these.
    deep = [nested(depth, wrap, innermost) for depth in (5000, 100_000)]

    def work() -> None:
        serializer = create()
        for depth in (100, 253, 254, 255, MAX_DEPTH):
            value = nested(depth, wrap, innermost)
            found.append(difference([value, 1], serializer.load(serializer.dump([value, 1]))))
        for value in deep:
            try:
                serializer.dump([value])
            except FAILURES:
                found.append("refused")
        cycle: list[Any] = []
        cycle.append(cycle)
        try:
            serializer.dump([cycle])
        except FAILURES:
            found.append("refused")

    before = threading.stack_size(512 << 10)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    return found
