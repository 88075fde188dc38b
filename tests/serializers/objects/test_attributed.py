"""Objects that have attributes alone, and exceptions, come back without pickle, and run nothing."""

from __future__ import annotations

import copyreg
import sys
from collections.abc import Callable
from typing import Any

import msgpack
import numpy as np
import pytest

import serialpack
from serialpack.errors import DamagedError, UnsupportedError
from serialpack.values.equality import difference
from tests.serializers.objects.test_own_objects import made_of

_ran: list[Any] = []


class Model:
    """What people write: made by ``__init__``, with whatever attributes."""

    def __init__(self, **attributes: Any) -> None:
        _ran.append(self)
        self.__dict__.update(attributes)

    def __setattr__(self, name: str, value: Any) -> None:
        _ran.append(name)
        super().__setattr__(name, value)

    @property
    def rate(self) -> Any:
        _ran.append("rate")
        return 1

    @rate.setter
    def rate(self, value: Any) -> None:
        _ran.append(value)


class Slotted(Model):
    __slots__ = ("__own", "other")

    def __init__(self) -> None:
        self.__own = 1


class Equal(Model):
    def __eq__(self, other: object) -> bool:
        _ran.append(other)
        return type(self) is type(other) and vars(self) == vars(other)


class Refused(Exception):
    """Pickle cannot make it again: it would be called with the text alone."""

    def __init__(self, code: int, text: str) -> None:
        _ran.append(code)
        super().__init__(f"{code}: {text}")
        self.code = code


class Missing(OSError):
    pass


def _noted() -> Exception:
    error = ValueError("a", 1)
    error.add_note("a note")
    return error


def _caused() -> Exception:
    error = Refused(404, "none")
    error.__cause__ = error.__context__ = KeyError("x")
    return error


VALUES: dict[str, Callable[[], Any]] = {
    "object": lambda: Model(a=1, b=[(2,)], c=Model()),
    "a property's name": lambda: Model(rate=2),
    "slots": Slotted,
    "own equality": lambda: Equal(a=1),
    "arrays": lambda: Model(weights=np.arange(20_000.0), names={"a": np.arange(3)}),
    "exception": lambda: ValueError("a", {"b": (1,)}),
    "note": _noted,
    "own arguments": lambda: Refused(404, "none"),
    "cause": _caused,
    "file": lambda: Missing(2, "No such file", "a.txt", None, "b.txt"),
    "no file": lambda: PermissionError(13, "Denied"),
    "would block": lambda: BlockingIOError(11, "Try again", 5),
    "import": lambda: ModuleNotFoundError("No x", name="x", path="/x"),
    "name": lambda: AttributeError("No x", name="x", obj=[1]),
    "values": lambda: [StopIteration((1,)), SystemExit(3), KeyboardInterrupt()],
    "syntax": lambda: SyntaxError("invalid", ("a.py", 1, 2, "x y", 1, 3)),
    "decoding": lambda: UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
    "encoding": lambda: UnicodeEncodeError("ascii", "é", 0, 1, "not in range"),
    "group": lambda: ExceptionGroup("several", [ValueError("a"), Refused(1, "b")]),
    "base group": lambda: BaseExceptionGroup("several", [KeyboardInterrupt()]),
    "result": lambda: {"id": 1, "ok": False, "error": TimeoutError()},
}


@pytest.mark.parametrize("name", VALUES)
def test_they_need_no_pickle_and_run_nothing(name: str) -> None:
    value = VALUES[name]()
    data = serialpack.dumps([value])
    assert data == serialpack.dumps([value], "objects")
    _ran.clear()
    (again,) = serialpack.loads(data)
    assert not _ran
    assert type(again) is type(value)
    assert difference([value], [again]) is None
    assert serialpack.dumps([again]) == data


def test_messages_of_exceptions_stay() -> None:
    for value in (VALUES["file"](), VALUES["decoding"](), VALUES["syntax"](), VALUES["cause"]()):
        assert str(serialpack.loads(serialpack.dumps(value))) == str(value)


def test_others_may_tell_pickle_of_exceptions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dask does, by tblib, where it is imported."""
    monkeypatch.setitem(copyreg.dispatch_table, LookupError, lambda _: (LookupError, ("a",)))
    again = serialpack.loads(serialpack.dumps(LookupError("a"), "objects"))
    assert again.args == ("a",)


def test_one_in_two_places_is_one_again() -> None:
    inner = Model(a=1)
    first, again, error, held = serialpack.loads(
        serialpack.dumps([inner, inner, _caused(), Model(b=inner)], "objects")
    )
    assert first is again is held.b
    assert error.__cause__ is error.__context__


def test_a_list_that_two_of_them_share_is_left_to_pickle() -> None:
    """Whoever changes it by one means both; in objects it would be two."""
    shared: list[Any] = [1]
    value = [Model(a=shared), Model(a=shared)]
    with pytest.raises(serialpack.ValueRefusedError):
        serialpack.dumps(value, "objects")
    one, other = serialpack.loads(serialpack.dumps(value, "pickle"), trust=True)
    assert one.a is other.a
    same = Model(a=())
    assert serialpack.loads(serialpack.dumps([same, Model(b=())], "objects"))[1].b == ()


def test_what_refers_to_itself_is_left_to_pickle() -> None:
    value = Model()
    value.itself = value
    with pytest.raises(serialpack.ValueRefusedError):
        serialpack.dumps(value, "objects")


class Dropped(Model):
    def __del__(self) -> None:
        _ran.append("dropped")


class Stated(Model):
    def __getstate__(self) -> dict[str, Any]:
        return {}


class Restored(Model):
    def __setstate__(self, state: Any) -> None:
        _ran.append(state)


class Hashed(Model):
    def __hash__(self) -> int:
        _ran.append("hashed")
        return 1


class Meta(type):
    pass


class Made(Model, metaclass=Meta):
    pass


class Only:
    """There is one of it, whoever asks for one."""

    _one: Only | None = None

    def __new__(cls) -> Only:
        if cls._one is None:
            cls._one = super().__new__(cls)
        return cls._one


class Above:
    __slots__ = ("hidden",)


class Hiding(Above):
    __slots__ = ("hidden",)

    def __init__(self) -> None:
        vars(Above)["hidden"].__set__(self, 1)
        self.hidden = 2


class Telling(Above):
    def __init__(self) -> None:
        vars(Above)["hidden"].__set__(self, 1)

    @property
    def hidden(self) -> int:
        return 2


class Told(Exception):
    def __reduce__(self) -> Any:
        return Told, ()


class New(Exception):
    def __new__(cls, *args: Any) -> New:
        _ran.append(args)
        return super().__new__(cls, *args)


def _raised() -> BaseException:
    try:
        raise ValueError("raised")
    except ValueError as error:
        return error


@pytest.mark.parametrize(
    "value",
    [
        *(Dropped(), Stated(), Restored(), Hashed(), Made(), Only(), Hiding(), Telling()),
        *(Told(), New(), _raised(), object()),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_could_not_be_given_back_so_is_refused(value: Any) -> None:
    with pytest.raises(serialpack.ValueRefusedError):
        serialpack.dumps([value], "objects", verify=False)


def test_the_refusal_of_a_traceback_says_what_can_be_held() -> None:
    error = _raised()
    with pytest.raises(serialpack.ValueRefusedError, match="with_traceback") as caught:
        serialpack.dumps({"error": error})
    assert caught.value.value_path == "$.error.__traceback__"
    again = serialpack.loads(serialpack.dumps(error.with_traceback(None)))
    assert type(again) is ValueError
    assert again.args == ("raised",)


def test_the_hint_for_a_traceback_serves_for_those_of_causes() -> None:
    error = _raised()
    error.__cause__ = error.__context__ = _raised()
    bare = error.with_traceback(None)
    with pytest.raises(serialpack.ValueRefusedError, match="each __cause__ and __context__"):
        serialpack.dumps(bare)
    assert bare.__cause__ is not None
    bare.__cause__.with_traceback(None)
    again = serialpack.loads(serialpack.dumps(bare))
    assert again.__cause__.args == ("raised",)


def _object(name: str, *parts: Any, module: str = __name__) -> msgpack.ExtType:
    return msgpack.ExtType(51, msgpack.packb([module, name, *parts]))


def _error(name: str, *parts: Any, module: str = "builtins") -> msgpack.ExtType:
    return msgpack.ExtType(52, msgpack.packb([module, name, *parts]))


def test_the_bytes() -> None:
    again = serialpack.loads(made_of(_object("Model", {"a": 1})))
    assert (type(again), vars(again)) == (Model, {"a": 1})
    parts = [2, "No"], {"note": 1}, None, None, False, {"errno": 2, "strerror": "No"}
    error = serialpack.loads(made_of(_error("FileNotFoundError", *parts)))
    assert (str(error), vars(error)) == ("[Errno 2] No", {"note": 1})


_NONE: tuple[Any, ...] = (None, None, False, {})
BAD = {
    "own words": _object("Stated", {}),
    "own end": _object("Dropped", {}),
    "own hash": _object("Hashed", {}),
    "own metaclass": _object("Made", {}),
    "an object of Python's": _object("Popen", {"pid": 1}, module="subprocess"),
    "an object of a library": _object("Series", {"a": 1}, module="pandas"),
    "an exception as an object": _object("ValueError", {}, module="builtins"),
    "no names": _object("Model", {1: 2}),
    "no map": _object("Model", [1]),
    "too many": _object("Model", {}, {}),
    "no arguments": _error("ValueError", {}, None, *_NONE),
    "no exception": _error("int", [], None, *_NONE),
    "own making": _error("New", [], None, *_NONE, module=__name__),
    "no cause": _error("ValueError", [], None, 1, None, False, {}),
    "no field": _error("ValueError", [], None, None, None, False, {"errno": 1}),
    "no group": _error("ExceptionGroup", [], None, None, None, False, ["a", [1]]),
    "no text to decode": _error("UnicodeDecodeError", ["a", 1, 0, 1, "b"], None, *_NONE),
    "one of a kind": _object("Only", {}),
    "a class as a name": _error("Refused", [], _object("Model", {}), *_NONE, module=__name__),
    "one in an array": msgpack.ExtType(6, msgpack.packb([_object("Model", {}), 0.0])),
}


@pytest.mark.parametrize("name", BAD)
def test_stored_bytes_that_lie_are_one_error(name: str) -> None:
    _ran.clear()
    with pytest.raises((DamagedError, UnsupportedError)):
        serialpack.loads(made_of(BAD[name]))
    assert not _ran


def test_no_module_is_imported() -> None:
    with pytest.raises(UnsupportedError, match="import none_attributed first"):
        serialpack.loads(made_of(_object("Model", {}, module="none_attributed")))
    assert "none_attributed" not in sys.modules
