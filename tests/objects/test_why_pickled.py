"""A PickleWarning says which value needs pickle, where it stands, and why."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import serialpack
from serialpack.objects import dumping
from tests.fidelity.things import Plain


class Anew:
    def __reduce__(self) -> Any:
        return Anew, ()


class Dropped:
    def __del__(self) -> None:
        pass


class Meta(type):
    pass


class Made(metaclass=Meta):
    pass


class Failing(type):
    """Of classes that can be compared with no other."""

    __hash__ = type.__hash__

    def __eq__(cls, other: object) -> bool:
        raise ValueError("of no truth")


class Incomparable(metaclass=Failing):
    pass


class Always:
    def __new__(cls) -> Always:
        return super().__new__(cls)


class Keyed:
    def __hash__(self) -> int:
        return 1


def _twice() -> Any:
    value: Any = Plain()
    value.x = value.y = [1]
    return value


def _itself() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


WHY: dict[str, tuple[Any, str]] = {
    "its words": ({"a": [1, Anew()]}, r"\$\.a\[1\]: .*\(the class Anew has its own __reduce__\)"),
    "in an array": ({"a": np.array([1, Anew()], object)}, r"\$\.a: .*class Anew has its own"),
    "dropped": ([Dropped()], r"\$\[0\]: .*\(the class Dropped has a __del__\)"),
    "a metaclass": ([Made()], r"\$\[0\]: .*\(the class Made has the metaclass Meta\)"),
    "made anew": ([Always()], r"\$\[0\]: .*\(the class Always has its own __new__\)"),
    "nothing": ([object()], r"\$\[0\]: .*\(the class object keeps nothing\)"),
    "as a key": ([Keyed()], r"\$\[0\]: .*\(the class Keyed has its own __hash__\)"),
    "of C code": ([partial(int)], r"\$\[0\]: .*\(the class partial is written in C\)"),
    "in two places": (_twice(), r"\$: .*\(one list or the like in two places of objects"),
    "of itself": (_itself(), r"\$: objects cannot hold a container that holds itself: list"),
}


@pytest.mark.parametrize("name", WHY)
def test_it_says_why(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the place was told."""
    monkeypatch.setattr(dumping, "_warned", type(dumping._warned)())
    value, words = WHY[name]
    with pytest.warns(serialpack.PickleWarning, match=f"^{words}.*; pickle can, and load needs"):
        serialpack.dumps(value)


@pytest.mark.filterwarnings("ignore::serialpack.PickleWarning")
def test_a_class_that_cannot_be_compared_is_refused_and_taken_unproved() -> None:
    with pytest.raises(serialpack.ValueRefusedError, match=r"of no truth.*verify=False"):
        serialpack.dumps(Incomparable())
    again = serialpack.loads(serialpack.dumps(Incomparable(), verify=False), trust=True)
    assert type(again) is Incomparable


class Unhashable(type):
    __hash__ = None  # type: ignore[assignment]

    def __eq__(cls, other: object) -> bool:
        return cls is other


class WithoutHash(metaclass=Unhashable):
    pass


class ListWithoutHash(list[int], metaclass=Unhashable):
    pass


@pytest.mark.parametrize(
    "obj", [WithoutHash(), ListWithoutHash([1]), [WithoutHash()]], ids=range(3)
)
def test_a_class_without_a_hash_is_refused_in_one_line(obj: Any) -> None:
    """A TypeError of Python's was raised, unless the object stood in another; pickle holds none."""
    for chain in ("auto", "objects", "pickle"):
        with pytest.raises(serialpack.ValueRefusedError, match="unhashable type") as caught:
            serialpack.dumps(obj, chain)
        assert "\n" not in str(caught.value)
