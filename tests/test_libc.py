"""The C library is opened in one way; what it has not is None."""

from __future__ import annotations

from serialpack.libc import of_libc
from tests.structure import PACKAGE


def test_what_is_there_is_called_and_what_is_not_is_none() -> None:
    absolute = of_libc("abs", "c_int")
    assert absolute is not None
    assert absolute(-3) == 3
    assert of_libc("no_such_function") is None
    assert of_libc("abs", "c_no_such_kind") is None


def test_nobody_else_opens_it() -> None:
    modules = PACKAGE.modules.items()
    opens = [name for name, path in modules if "CDLL(None" in path.read_text("utf-8")]
    assert opens == ["serialpack.libc"]
