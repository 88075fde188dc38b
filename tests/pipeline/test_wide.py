"""A large record is serialized, proved and restored part by part, as it is all at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import serialpack
from serialpack.errors import SerialpackError
from serialpack.pipeline import wide
from tests.conversion.blocks.test_wide import SOURCES
from tests.formats.cutting import cut_from

#: Sources whose text is laid out in other ways; and some whose values are not those of others.
TEXTS: dict[str, bytes] = {
    **{name: data for name, (data, _) in SOURCES.items()},
    "wide.csv": b'a,"b",c,d,"",f,g\n,,,,,,\n1,"2,","3""",4,"5\n",6,\n',
    "all.csv": b'"a","b","c","d"\r\n"1","","3","4"\r\n',
    "some.csv": b'a,"b",c,d,"e",f,"g"\n1,"2",3,4,"5",6,"7"\n1,"2",3,4,"5",6,"7"\n',
    "first.tsv": b"\xef\xbb\xbfa\tb\tc\td\n1\t2\t3\t4",
    "spaced.ndjson": b'{"a": [1, 2, 3, 4], "b": {"c": "d", "e": "f"}}\n',
    "odd.ndjson": b'{"a" :[1 ,2 ,3 ,4] ,"b" :{"c" :"d" ,"e" :"f"}}\n',
    "ascii.json": rb'{"a":["\u00eb","\ud83d\ude00"],"b":[1e-05,1e+16,0.1],"c\u00eb":[1,2,3]}',
    "slash.json": rb'{"a":["\/","<"],"b":["\u003c","\/"],"c":[1,2,3]}',
    "tabs.json": b'{\n\t"a": [\n\t\t1,\n\t\t2,\n\t\t3\n\t],\n\t"b": {\n\t\t"c": []\n\t}\n}\n',
    "member.json": b'{\n  "a": {\n    "b": [\n      1,\n      2\n    ],\n    "c": 3\n  }\n}\n',
    "element.json": b'[\n  {\n    "a": [\n      1,\n      2\n    ]\n  }\n]\n',
}


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was done part by part."""
    found: list[str] = []

    def noted(name: str) -> None:
        function = getattr(wide, name)

        def told(*args: Any, **how: Any) -> Any:
            made = function(*args, **how)
            if made is not None:
                found.append(name)
            return made

        monkeypatch.setattr(wide, name, told)

    noted("encoded")
    noted("decoded")
    return found


def _packed(source: Path, serializer: str, block_size: int | None) -> bytes | str:
    """The container, or what is said."""
    target = source.with_suffix(".spk")
    how: dict[str, Any] = {"threads": 1, "force": True}
    try:
        serialpack.pack(source, target, serializer=serializer, block_size=block_size, **how)
    except SerialpackError as error:
        return f"{error} {error.hint}"
    return target.read_bytes()


@pytest.mark.parametrize("serializer", ["json", "msgpack", "cbor"])
@pytest.mark.parametrize("name", TEXTS)
def test_the_same_is_packed_and_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, serializer: str
) -> None:
    source, back = tmp_path / name, tmp_path / "back"
    source.write_bytes(TEXTS[name])
    for block_size in (None, 8) if serializer == "msgpack" else (None,):
        cut_from(monkeypatch, 4)
        found = _packed(source, serializer, block_size)
        cut_from(monkeypatch, 1 << 40)
        whole = _packed(source, serializer, block_size)
        if serializer == "json" and b"\\u" in TEXTS[name]:
            # It escapes where little of what it is given is beyond ASCII.
            assert type(whole) is type(found)
        else:
            assert whole == found
        if isinstance(whole, str):
            continue
        serialpack.unpack(source.with_suffix(".spk"), back, force=True)
        text = back.read_bytes()
        cut_from(monkeypatch, 4)
        serialpack.unpack(source.with_suffix(".spk"), back, force=True)
        assert back.read_bytes() == text


@pytest.mark.parametrize(
    ("name", "serializer"),
    [
        *(("nested.ndjson", "msgpack"), ("indented.json", "json")),
        *(("nested.cbor", "json"), ("exact.csv", "json"), ("all.csv", "cbor")),
    ],
)
def test_it_is_done_part_by_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, used: list[str], name: str, serializer: str
) -> None:
    cut_from(monkeypatch, 4)
    (tmp_path / name).write_bytes(TEXTS[name])
    _packed(tmp_path / name, serializer, None)
    assert used == ["encoded", "decoded"]
    serialpack.unpack((tmp_path / name).with_suffix(".spk"), tmp_path / "back")
    assert used == ["encoded", "decoded", "decoded"]
    assert (tmp_path / "back").read_bytes() == TEXTS[name]


def test_what_orders_all_keys_has_all_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, used: list[str]
) -> None:
    """Each part of a map could be in order where the map is not."""
    cut_from(monkeypatch, 4)
    (tmp_path / "x.ndjson").write_bytes(b'{"d":1,"e":2,"f":3,"a":4,"b":5,"c":6}\n')
    said = _packed(tmp_path / "x.ndjson", "cbor:1", None)
    assert isinstance(said, str)
    assert "order" in said
    assert not used


def test_what_does_not_come_back_part_by_part_does_as_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The text of the parts is held against the source's checksum before it is taken."""
    cut_from(monkeypatch, 4)
    source = tmp_path / "x.ndjson"
    source.write_bytes(TEXTS["nested.ndjson"])
    _packed(source, "msgpack", None)
    monkeypatch.setattr(wide, "decoded", lambda *_, **__: b"{}")
    serialpack.unpack(tmp_path / "x.spk", tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == TEXTS["nested.ndjson"]
