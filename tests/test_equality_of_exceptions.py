"""What comes with an exception that was caught is part of it."""

from __future__ import annotations

import copyreg
import io
import pickle
from typing import Any

import pytest

from serialpack.values.equality import difference
from tests.test_equality import Fault


def _caught(cause: Exception) -> Exception:
    try:
        raise Fault("a") from cause
    except Fault as error:
        return error


def _again(value: Any) -> Any:
    """``value`` as it is pickled by itself, whatever is registered for its class: tblib does that
    for all exceptions, in a process that has imported distributed."""
    file = io.BytesIO()
    pickler = pickle.Pickler(file)
    pickler.dispatch_table = {}
    pickler.dump(value)
    return pickle.loads(file.getvalue())


@pytest.mark.parametrize("registered", [False, True])
def test_what_comes_with_a_caught_exception_is_part_of_it(
    registered: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if registered:
        monkeypatch.setitem(copyreg.dispatch_table, Fault, lambda _: (_caught, (KeyError(1),)))
    error = _caught(KeyError(1))
    lost = difference(error, _again(error))
    assert lost is not None
    assert lost.value_path == "$.__cause__"
    bare = _caught(KeyError(1)).with_traceback(None)
    bare.__cause__ = bare.__context__ = None
    bare.__suppress_context__ = False
    assert difference(bare, _again(bare)) is None
