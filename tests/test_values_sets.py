"""The elements of a set are written in one order, whichever it has in a process."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

from serialpack.formats import FORMATS
from serialpack.values.sets import in_order

_VALUES = {
    "texts": {"x", "y", "z", "w"},
    "mixed": {"b", 3, 4.5, b"q", ("a", "b")},
    "sets": {frozenset("abc"), frozenset("bcd")},
}

#: Writes the values to each format in turn, and prints what came of it.
_CONVERT = """
import hashlib, io, sys
import serialpack
data = open(sys.argv[1], "rb").read()
for name, tagged in [*((name, False) for name in sys.argv[2:]), ("json", True)]:
    out = io.BytesIO()
    try:
        how = {"format": "pickle", "trust": True, "tagged": tagged}
        serialpack.convert(io.BytesIO(data), out, to=name, **how)
        print(name, hashlib.md5(out.getvalue()).hexdigest())
    except serialpack.SerialpackError:
        pass
"""


def test_what_is_written_is_the_same_in_each_run(tmp_path: Path) -> None:
    """YAML's sets became lists of JSON in another order each time."""
    source = tmp_path / "values.pickle"
    source.write_bytes(pickle.dumps(_VALUES))
    targets = [each.name for each in FORMATS if each.is_target and each.name != "pickle"]
    found = [
        subprocess.run(
            [sys.executable, "-c", _CONVERT, source, *targets],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in (1, 2)
    ]
    assert found[0] == found[1]
    assert len(found[0].splitlines()) > 8


def test_numbers_and_texts_are_sorted() -> None:
    assert in_order({10, 9, -1, 2.5}) == [-1, 2.5, 9, 10]
    assert in_order({"b", "a", "B"}) == ["B", "a", "b"]


def test_what_has_no_order_has_that_of_its_types() -> None:
    assert in_order({"a", 2, None, (1,)}) == [None, 2, "a", (1,)]
    some = [frozenset("xyz"), frozenset("ab")]
    assert in_order(some) == in_order(some[::-1]) == some[::-1]


def test_what_is_nested_too_deeply_to_be_looked_at_stays_as_it_is() -> None:
    deep: frozenset[object] = frozenset()
    for _ in range(20_000):
        deep = frozenset({deep, 1})
    assert set(in_order({deep, "a"})) == {deep, "a"}
