"""One large map that is read member by member: what is said of a member is said of the map."""

from __future__ import annotations

import io
import json

import pytest

import serialpack
from serialpack.errors import ValueRefusedError

MANY = {f"k{n}": n for n in range(120_000)}


def _source(last: str) -> bytes:
    """A map of several blocks, with one more member at its end."""
    return json.dumps(MANY)[:-1].encode() + f', "last": {{"x": {last}}}}}'.encode()


def test_the_place_of_a_member_is_in_the_map() -> None:
    """It was told as record 120000 of a file of one record."""
    source = io.BytesIO(_source("1" + "0" * 40))
    with pytest.raises(ValueRefusedError) as caught:
        serialpack.convert(source, io.BytesIO(), format="json", to="msgpack")
    assert caught.value.place == "record 0, $.last.x"
    report = serialpack.convert(
        io.BytesIO(_source("1" + "0" * 40)),
        io.BytesIO(),
        format="json",
        to="msgpack",
        lossy=["bigint"],
    )
    assert [(loss.rule, loss.record) for loss in report.losses] == [("bigint", 0)]


def test_packing_says_so_too() -> None:
    with pytest.raises(ValueRefusedError) as caught:
        serialpack.pack(
            io.BytesIO(_source("1" + "0" * 40)), io.BytesIO(), format="json", serializer="msgpack"
        )
    assert caught.value.place == "record 0, $.last.x"
