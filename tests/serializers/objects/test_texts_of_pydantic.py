"""Secrets and URLs of pydantic, and the time zones of what it reads: without pickle."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from datetime import datetime, time
from typing import Any

import msgpack
import pytest

import serialpack
from serialpack.errors import DamagedError, UnsupportedError
from serialpack.pipeline.small import expand
from serialpack.values.equality import difference
from serialpack.values.quick_equality import quickly_same
from tests.serializers.objects.test_own_objects import made_of

pytest.importorskip("pydantic")

from pydantic import (
    AnyUrl,
    BaseModel,
    HttpUrl,
    PostgresDsn,
    SecretBytes,
    SecretStr,
    TypeAdapter,
)
from pydantic_core import MultiHostUrl, TzInfo, Url


class Settings(BaseModel):
    url: HttpUrl
    database: PostgresDsn
    password: SecretStr
    key: SecretBytes
    since: datetime


class Home(AnyUrl):
    """A user's own."""


class Odd(SecretStr):
    def __hash__(self) -> int:
        raise AssertionError

    def __eq__(self, other: object) -> bool:
        raise AssertionError


GIVEN = {
    "url": "https://ü.example/a b?c#d",
    "database": "postgres://me:secret@one:5432,two/db",
    "password": "secret",
    "key": "secret",
    "since": "2020-01-01T00:00:00Z",
}


def _settings() -> Settings:
    return Settings.model_validate(GIVEN)


@pytest.mark.parametrize(
    "make",
    [
        _settings,
        lambda: Home("https://a.example/"),
        lambda: {SecretStr("a"): 1, HttpUrl("https://a.example/"): 2},
        lambda: [Url("https://a.example/"), MultiHostUrl("postgres://a,b/c")],
        lambda: TypeAdapter(time).validate_json('"01:02:03-00:01"'),
    ],
)
def test_they_need_no_pickle(make: Callable[[], Any]) -> None:
    value = make()
    again = serialpack.loads(serialpack.dumps([value], "objects", verify=False))[0]
    assert difference(value, again) is None
    assert again == value
    assert serialpack.loads(serialpack.dumps(value)) == value


def test_one_that_stands_in_two_places_binds_nothing_else() -> None:
    """Nobody changes one: so a list in two places, which comes back as two, is none of its."""
    value, items = _settings(), [1]
    again = serialpack.loads(serialpack.dumps([value, value, value.url, items, items], "objects"))
    assert again == [value, value, value.url, items, items]


def test_one_that_says_itself_what_it_equals_is_left_to_pickle() -> None:
    with pytest.raises(serialpack.ValueRefusedError):
        serialpack.dumps(Odd("a"), "objects")


def test_the_bytes() -> None:
    url = Url("https://a.example/")
    (found,) = msgpack.unpackb(
        serialpack.dumps([url], "objects+none")[-36:-8], strict_map_key=False
    )
    assert found.code == 53
    assert msgpack.unpackb(found.data) == ["Url", "https://a.example/"]


LIES = [
    (53, ["Url"]),
    (53, ["Url", 1]),
    (53, ["Url", "no URL"]),
    (53, ["ValidationError", "a"]),
    (53, [[], "https://a.example/"]),
    (38, ["TzInfo", 86400]),
    (38, ["TzInfo", 1.5]),
    (51, ["pydantic.networks", "UrlConstraints", {}]),
    (51, ["pydantic.types", "_SecretField", {}]),
]


@pytest.mark.parametrize(("code", "parts"), LIES)
def test_stored_bytes_that_lie_are_one_error(code: int, parts: list[Any]) -> None:
    with pytest.raises(DamagedError):
        serialpack.loads(made_of(msgpack.ExtType(code, msgpack.packb(parts))))


@pytest.mark.parametrize(
    ("code", "parts"), [(53, ["Url", "https://a.example/"]), (38, ["TzInfo", 60])]
)
def test_no_module_is_imported(
    code: int, parts: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = made_of(msgpack.ExtType(code, msgpack.packb(parts)))
    monkeypatch.delitem(sys.modules, "pydantic_core")
    from serialpack.serializers.objects._time_zones import zone_of

    zone_of.cache_clear()
    with pytest.raises(UnsupportedError, match="import pydantic first"):
        serialpack.loads(data)


def test_zones_keep_their_class() -> None:
    value = _settings()
    assert type(value.since.tzinfo) is TzInfo
    again = serialpack.loads(serialpack.dumps(value, "objects"))
    assert type(again.since.tzinfo) is TzInfo
    other = value.model_copy(update={"since": datetime(2020, 1, 1, tzinfo=TzInfo(60))})
    assert difference(value, other) is not None


def test_inspect_shows_the_text() -> None:
    data = serialpack.dumps({"home": Url("https://a.example/")}, "objects")
    (member,) = serialpack.inspect(io.BytesIO(expand(data))).members
    assert member.format == "object"


def test_many_are_compared_at_once() -> None:
    """One by one each took 100 microseconds, of which pickle's C code takes 10."""
    one, same = _settings(), _settings()
    assert quickly_same([one], [same], identity=False)
    parts = {"since": datetime(2020, 1, 1, tzinfo=TzInfo(1)), "url": HttpUrl("http://b")}
    for name, part in parts.items():
        other = one.model_copy(update={name: part})
        assert not quickly_same([one], [other], identity=False)
