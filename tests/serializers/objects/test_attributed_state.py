"""What C code keeps of objects with attributes alone and of exceptions, and what it would ask."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgpack
import numpy as np
import pytest

import serialpack
from serialpack.errors import DamagedError
from tests.serializers.objects.test_own_objects import made_of

_ran: list[str] = []


class Model:
    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


class Lazy:
    """One slot is set, of the other ``__getattr__`` would be asked."""

    __slots__ = ("kept", "lazy")

    def __init__(self) -> None:
        self.kept = 1

    def __getattr__(self, name: str) -> Any:
        _ran.append(name)
        return 2


def test_fields_of_exceptions_that_were_set_later_stay() -> None:
    """Nothing but these fields tells of them: pickle writes the arguments."""
    blocking: Any = OSError(11, "Try again")
    found = StopIteration(1)
    blocking.characters_written, found.value = 5, 2
    again = serialpack.loads(serialpack.dumps([blocking, found], "objects"))
    assert (again[0].characters_written, again[1].value) == (5, 2)
    with pytest.raises(serialpack.ValueRefusedError, match="characters_written"):
        serialpack.dumps(blocking, "pickle")


@pytest.mark.parametrize("serializer", ["objects", "pickle"])
def test_an_exception_about_text_that_was_changed_is_refused(serializer: str) -> None:
    error = UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")
    error.reason = "another"
    with pytest.raises(serialpack.ValueRefusedError):
        serialpack.dumps(error, serializer)


def test_an_unset_slot_stays_unset_and_nobody_is_asked() -> None:
    _ran.clear()
    again = serialpack.loads(serialpack.dumps(Lazy(), "objects", verify=False))
    assert _ran == []
    assert again.kept == 1
    with pytest.raises(AttributeError):
        vars(Lazy)["lazy"].__get__(again)


def test_a_list_that_one_shares_with_an_array_is_left_to_pickle() -> None:
    """The garbage collector does not tell what is in an array of NumPy."""
    shared: list[Any] = [1]
    for value in (
        [Model(a=shared), np.array([shared, None], object)],
        [Model(a=np.array([Model(b=shared)], object)), shared],
    ):
        with pytest.raises(serialpack.ValueRefusedError):
            serialpack.dumps(value, "objects")


def test_what_stands_in_two_places_of_each_level_takes_no_time() -> None:
    """Each of 200 levels would double what is written to compare it."""
    value = Model(v=1)
    for _ in range(200):
        value = Model(a=value, b=value)
    again = serialpack.loads(serialpack.dumps(value, "objects"))
    assert again.a is again.b


class Asked:
    """C code would ask it for items, a length or a number."""

    def __iter__(self) -> Iterator[Any]:
        _ran.append("items")
        return iter(["a", [ValueError()]])

    def __len__(self) -> int:
        _ran.append("length")
        return 0

    def __index__(self) -> int:
        _ran.append("index")
        return 0

    def items(self) -> list[Any]:
        _ran.append("pairs")
        return []


class Listed(list[Any]):
    def __iter__(self) -> Iterator[Any]:
        _ran.append("items")
        return super().__iter__()


def _extension(code: int, *parts: Any) -> msgpack.ExtType:
    return msgpack.ExtType(code, msgpack.packb(parts))


def _error(name: str, args: list[Any], fields: Any) -> msgpack.ExtType:
    return _extension(52, "builtins", name, args, None, None, None, False, fields)


_ASKED = _extension(51, __name__, "Asked", None)
_LISTED = _extension(49, __name__, "Listed", "list", [_error("ValueError", [], {})], None)
ASKING = {
    "a list of its own in a group": _error("ExceptionGroup", [], ["a", _LISTED]),
    "an object as a group": _error("ExceptionGroup", [], _ASKED),
    "an object as fields": _error("ValueError", [], _ASKED),
    "an object as a count": _error("OSError", [], {"characters_written": _ASKED}),
    "an object as a place": _error("UnicodeDecodeError", ["a", b"b", _ASKED, 1, "c"], None),
}


@pytest.mark.parametrize("name", ASKING)
def test_stored_bytes_cannot_have_c_code_ask_an_object(name: str) -> None:
    _ran.clear()
    with pytest.raises(DamagedError):
        serialpack.loads(made_of(ASKING[name]))
    assert not _ran
