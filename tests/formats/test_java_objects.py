"""Objects of classes that Java's library has not: refused, or by ``--lossy objects`` maps of their
fields. They were refused whatever was said, and with them all that stood beside them."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

import serialpack
from serialpack.errors import ValueRefusedError
from serialpack.formats.java.read import MAGIC
from tests.conversion.converting import converted
from tests.formats.test_java import (
    _array_list,
    _block,
    _class,
    _hash_map,
    _integer,
    _object,
    _string,
)

pytest.importorskip("javaobj")

ABOVE = _class("shop.Thing", {"id": "I"})
#: A field of its own, one of the class above it, and another object.
ITEM = _object(
    _class("shop.Item", {"made": "Ljava/lang/Object;", "name": "Ljava/lang/String;"}, 2, ABOVE),
    *(b"\0\0\0\7", _object(_class("shop.Maker", {"n": "I"}), b"\0\0\0\1"), _string("x")),
)


def refusal(stream: bytes, lossy: tuple[str, ...] = ()) -> ValueRefusedError:
    with pytest.raises(ValueRefusedError) as caught:
        converted(MAGIC + stream, "java", "json", lossy=lossy)
    return caught.value


@pytest.mark.parametrize(
    ("stream", "path"),
    [
        (_object(_class("Own", {"a": "I"}), bytes(4)), "$"),
        (_array_list(b"p", _object(_class("Own"))), "$[1]"),
        (_hash_map(_string("odd key"), _object(_class("Own"))), '$["odd key"]'),
    ],
)
def test_they_are_refused_with_a_way_that_works(stream: bytes, path: str) -> None:
    error = refusal(stream)
    assert (error.kind, error.value_path) == ("object", path)
    assert "Own" in str(error)
    assert (error.hint or "").startswith("--lossy objects lets it go")
    assert converted(MAGIC + stream, "java", "json", lossy=("objects",))


def test_their_fields_are_a_map_and_the_classes_told() -> None:
    out = io.BytesIO()
    source = io.BytesIO(MAGIC + _block(b"first") + _array_list(ITEM, _integer(5)))
    report = serialpack.convert(source, out, format="java", to="json", lossy=["objects"])
    item: dict[str, Any] = {"id": 7, "made": {"n": 1}, "name": "x"}
    assert json.loads(out.getvalue()) == ["Zmlyc3Q=", [item, 5]]
    (lost,) = report.losses
    assert (lost.rule, lost.count, lost.record, lost.value_path) == ("objects", 2, 1, "$[0]")
    assert lost.was == "shop.Item"


@pytest.mark.parametrize(
    ("stream", "words"),
    [
        (_object(_class("Own", {"a": "I"}, 3), bytes(4), _block(b"x"), b"x"), "more than its"),
        (_object(_class("Own", {"a": "I"}, 2, _class("Up", {"a": "I"})), bytes(8)), "two fields"),
        (_hash_map(_object(_class("Own")), b"p"), "as a key"),
    ],
)
def test_what_fields_do_not_tell_is_refused_whatever_is_said(stream: bytes, words: str) -> None:
    """Also where another object beside it could be a map: nobody is sent the wrong way."""
    for lossy in ((), ("objects",)):
        error = refusal(_array_list(ITEM, stream), lossy)
        assert words in str(error)
        assert "--lossy" not in (error.hint or "")
