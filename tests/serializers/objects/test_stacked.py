"""Lists of small arrays of one type and shape, which are written as one array."""

from __future__ import annotations

import io
import sys
from typing import Any

import numpy as np
import pytest

import serialpack
from serialpack.serializers.objects.passes import written
from serialpack.values.equality import difference
from tests.fidelity import things

MANY = 5000


def boxes(count: int = MANY, kind: str = "<i4") -> list[Any]:
    numbers = np.random.default_rng(1).integers(0, 100, (count, 4))
    return [row.copy() for row in numbers.astype(kind)]


def _changed(place: int, array: Any) -> list[Any]:
    found = boxes()
    found[place] = array
    return found


def _locked() -> Any:
    found = np.arange(4, dtype="<i4")
    found.flags.writeable = False
    return found


#: Each is written as one array, or a few.
VALUES: dict[str, Any] = {
    "vectors": boxes(),
    "big-endian": boxes(kind=">u2"),
    "matrices": [box.reshape(2, 2) for box in boxes(kind="<f8")],
    "complex": boxes(kind="<c16"),
    "times": [box.view("<M8[s]") for box in boxes(kind="<i8")],
    "of odd bits": [np.array([-0.0, np.nan, np.inf]) for _ in range(MANY)],
    "in maps": [{"id": n, "box": box, "name": f"{n}"} for n, box in enumerate(boxes())],
    "in maps alone": [{"box": box} for box in boxes()],
    "in tuples": tuple((box, n) for n, box in enumerate(boxes())),
    "in a map": {f"{n}": box for n, box in enumerate(boxes())},
    "in objects": [things.Plain(n=n, box=box) for n, box in enumerate(boxes())],
    "of two shapes": [box[: 3 + n % 2].copy() for n, box in enumerate(boxes())],
    "of two types": [box.astype("<f4") if n % 3 else box for n, box in enumerate(boxes())],
    "some are none": [box if n % 3 else None for n, box in enumerate(boxes())],
    "beside one of another shape": _changed(7, np.arange(9)),
    "with one that is locked": _changed(7, _locked()),
    "with one without a dimension": _changed(7, np.array(7)),
    "with one without items": _changed(7, np.zeros((0, 3))),
}
#: Each is written array by array, for some reason.
OTHERS: dict[str, Any] = {
    "locked": [_locked() for _ in range(MANY)],
    "without a dimension": [np.array(n) for n in range(MANY)],
    "without items": [np.zeros((0, 4)) for _ in range(MANY)],
    "in Fortran order": [np.asfortranarray(box.reshape(2, 2)) for box in boxes()],
    "of fields": [np.zeros(2, "i4,f8") for _ in range(MANY)],
    "of text": [np.array(["a", "b"]) for _ in range(MANY)],
    "of objects": [np.array([None, 1]) for _ in range(MANY)],
    "slices": [box[::2] for box in boxes()],
}


@pytest.mark.parametrize("name", [*VALUES, *OTHERS])
def test_they_come_back(name: str) -> None:
    value = {**VALUES, **OTHERS}[name]
    again = serialpack.loads(serialpack.dumps(value, "objects", verify=False))
    assert difference(value, again) is None
    assert written([value], beside=True).made == (name in VALUES)


def test_they_take_fewer_bytes_and_calls() -> None:
    """Each had an extension of its own, which took 30 calls; many of few bits were twice as
    large."""
    value, calls = boxes(), 0

    def count(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        data = serialpack.dumps(value)
        again = serialpack.loads(data)
    finally:
        sys.setprofile(None)
    assert difference(value, again) is None
    assert len(data) < 1.05 * MANY * 4
    assert calls < 5 * MANY


@pytest.mark.parametrize(
    "how", ["behind", "before", "again", "twice", "all before", "in a library's"]
)
def test_one_in_two_places_is_one_again(how: str) -> None:
    arrays = boxes()
    one, other, held = arrays[7], np.arange(3), np.array([None, None])
    held[1] = one
    value: Any = {
        "behind": [arrays, one, {"other": other}, (other, one)],
        "before": [other, one, arrays, other],
        "again": [[*arrays, one, *arrays[:9]], other, other],
        "twice": [arrays, [*arrays, other], other],
        "all before": [arrays, [*reversed(arrays)]],
        "in a library's": [np.ma.masked_array(one, one > 3), arrays, held, one],
    }[how]
    data = serialpack.dumps(value, "objects", verify=False)
    again = serialpack.loads(data)
    assert difference(value, again, identity=how != "in a library's") is None
    assert serialpack.inspect(io.BytesIO(data)).members[0].holds is not None


def test_each_has_memory_of_its_own() -> None:
    again = serialpack.loads(serialpack.dumps(boxes()))
    again[0][:] = 7
    assert difference(again[1:], boxes()[1:]) is None
    assert all(each.flags.owndata and each.flags.writeable for each in again)


def test_people_see_what_they_are() -> None:
    arrays = boxes()
    data = serialpack.dumps({"boxes": arrays, "first": arrays[0]})
    (member,) = serialpack.inspect(io.BytesIO(data)).members
    assert member.holds["boxes"] == f"arrays, <i4, {MANY} x 4, C order"
    assert member.holds["first"] == "the same as one before"
