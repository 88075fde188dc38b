"""Libraries that another thread is importing while values are packed."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

import pytest

import serialpack
from serialpack.imported import imported

VALUE = {"pair": (1, 2), "set": {3}, "decimal": 2j}


@pytest.mark.parametrize(
    "name", ["numpy", "pandas", "polars", "pyarrow", "serialpack.objects.lazy"]
)
def test_what_is_being_imported_is_not_there_yet(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A load with mmap_mode in one thread imports what a dump in another one looks at."""
    begun = ModuleType(name)
    begun.__spec__ = ModuleSpec(name, None)
    begun.__spec__._initializing = True  # type: ignore[attr-defined]  # as importlib says it
    monkeypatch.setitem(sys.modules, name, begun)
    assert imported(name) is None
    assert serialpack.loads(serialpack.dumps(VALUE)) == VALUE
    begun.__spec__._initializing = False  # type: ignore[attr-defined]
    assert imported(name) is begun


def test_what_is_not_imported_is_not_there() -> None:
    assert imported("serialpack.no_such_module") is None
    assert imported("sys") is sys
