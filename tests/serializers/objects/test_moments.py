"""Many moments of pandas in a list."""

from __future__ import annotations

import sys
from typing import Any

import pandas as pd

import serialpack


def test_many_moments_take_few_calls_each() -> None:
    """All was written twice, and who knows the class looked for each time: 540 calls."""
    moments = [pd.Timestamp(n, unit="h") for n in range(5000)]
    calls = 0

    def count(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    serialpack.loads(serialpack.dumps(moments[:2]))  # what is made once is made
    sys.setprofile(count)
    try:
        assert serialpack.loads(serialpack.dumps(moments)) == moments
    finally:
        sys.setprofile(None)
    assert calls < 160 * len(moments), calls / len(moments)
