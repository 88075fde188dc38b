"""``serialpack.store``: a dict that stays, whatever keeps it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import serialpack
from serialpack import far
from serialpack.stores.base import DuplicateKey
from serialpack.stores.keys import HEADER_KEY, decoded_key, encoded_key
from serialpack.stores.registry import STORES, opened_store, store_named
from tests.stores.kinds import NAMES, ON_DISK, url_of

VALUES: dict[Any, Any] = {
    "": None,
    "ada": {"born": 1815, "met": ("Babbage", [1.5, -0.0])},
    "\U0001f600 \x00": b"\xff" * 40,
    "7": "text",
    7: "number",
    -(1 << 63): 1 << 70,
    (1 << 63) - 1: [],
}


def test_every_kind_is_tested() -> None:
    assert {scheme for scheme, _ in NAMES} == set(STORES) == far.STORES


@pytest.mark.parametrize("key", [*VALUES, "\x7f", 0, -1])
def test_a_key_comes_back_and_is_never_that_of_the_header(key: Any) -> None:
    data = encoded_key(key)
    found = decoded_key(data)
    assert (type(found), found) == (type(key), key)
    assert data
    assert data != HEADER_KEY


def test_integers_keep_their_order() -> None:
    numbers = [-(1 << 63), -257, -1, 0, 1, 255, 256, (1 << 63) - 1]
    assert sorted(map(encoded_key, numbers)) == [*map(encoded_key, numbers)]


@pytest.mark.parametrize("key", [1.5, True, None, (1,), b"x", "\ud800", 1 << 63, -(1 << 63) - 1])
def test_what_is_no_key_is_refused(tmp_path: Path, key: Any) -> None:
    with serialpack.store(f"sqlite-kv://{tmp_path}/s.db") as store:
        with pytest.raises(serialpack.RefusedError, match="a key is text, or an integer"):
            store[key] = 1
        assert key not in store
        assert not store


@ON_DISK
def test_a_store_is_a_dict_that_stays(tmp_path: Path, scheme: str, name: str) -> None:
    url = url_of(tmp_path, scheme, name)
    with serialpack.store(url) as store:
        store.update(VALUES)
        store["gone"] = 1
        store["gone"] = 2
        assert store.pop("gone") == 2
        with pytest.raises(KeyError, match="gone"):
            del store["gone"]
    with serialpack.store(url, "r") as store:
        assert len(store) == len(VALUES)
        assert dict(store.items()) == VALUES
        assert set(store) == set(VALUES)
        assert sorted(map(repr, store.values())) == sorted(map(repr, VALUES.values()))
        assert [type(store[key]) for key in VALUES] == [*map(type, VALUES.values())]
        assert store.get("gone") is None
        assert "7" in store
        assert 8 not in store
        with pytest.raises(serialpack.UsageError, match="opened to be read"):
            store["x"] = 1
    with serialpack.store(url, "w") as store:
        store.clear()
        assert not store
    assert {each.name for each in tmp_path.iterdir()} <= {name, f"{name}-lock"}


@ON_DISK
def test_a_transaction_is_all_or_nothing(tmp_path: Path, scheme: str, name: str) -> None:
    url = url_of(tmp_path, scheme, name)
    with serialpack.store(url) as store:
        store["a"] = 1
        with store.transaction():
            store["b"] = 2
            del store["a"]
            assert (store["b"], "a" in store, len(store), [*store]) == (2, False, 1, ["b"])
        assert dict(store) == {"b": 2}
        with pytest.raises(ZeroDivisionError), store.transaction():
            store["c"] = 3
            raise ZeroDivisionError
        assert dict(store) == {"b": 2}
        with pytest.raises(serialpack.ValueRefusedError, match="the value of the key 'e'"):
            store.update({"d": 4, "e": {1, object()}})
        assert dict(store) == {"b": 2}


@ON_DISK
def test_keys_that_are_to_be_new_are(tmp_path: Path, scheme: str, name: str) -> None:
    url = url_of(tmp_path, scheme, name)
    serialpack.store(url, chain="msgpack+none").close()
    store = opened_store(store_named(url), "w")
    store.write([(b"a", b"1")])
    for changes, at in [([(b"b", b"2"), (b"a", b"3")], 1), ([(b"c", b"1"), (b"c", b"2")], 1)]:
        with pytest.raises(DuplicateKey) as caught:
            store.write(changes, new=True)
        assert caught.value.at == at
    assert (store.get(b"a"), store.get(b"b"), store.get(b"c"), len(store)) == (b"1", None, None, 2)
    store.close()


@pytest.mark.parametrize("path", ["*", "+"])
def test_in_memory_it_is_gone_with_the_process(path: str) -> None:
    url = f"tokyocabinet://{path}"
    try:
        store = serialpack.store(url)
    except serialpack.MissingLibraryError as error:
        pytest.skip(str(error))
    with store:
        store.update(VALUES)
        assert dict(store.items()) == VALUES
    with pytest.raises(serialpack.UsageError, match="in memory"):
        serialpack.store(url, "r")


def test_small_values_share_a_dictionary(tmp_path: Path) -> None:
    """Without it each would be larger than what the serializer wrote, as it is alone."""
    values = {n: {"identifier": n, "colour": "green", "size": n * 7 % 5} for n in range(300)}
    with serialpack.store(f"sqlite-kv://{tmp_path}/s.db", chain="json") as store:
        store.update(values)
        assert 256 <= len(store.header.dictionary) <= 16 << 10
        assert dict(store.items()) == values
    facts = _facts(tmp_path)
    assert facts.stored < facts.size * 0.7


def _facts(folder: Path) -> Any:
    from serialpack.stores.facts import facts_of

    return facts_of(f"sqlite-kv://{folder}/s.db")


@pytest.mark.parametrize("chain", ["json+lz4", "cbor:0+shuffle:2+xz:1", "msgpack+none", "objects"])
def test_any_chain_is_used(tmp_path: Path, chain: str) -> None:
    values = {"a": "x" * 999, "b": [1, 2.5], "": {}}
    with serialpack.store(f"sqlite-kv://{tmp_path}/s.db", chain=chain) as store:
        store.update(values)
    with serialpack.store(f"sqlite-kv://{tmp_path}/s.db", "r") as store:
        assert dict(store.items()) == values
        assert str(store.header.chain).startswith(chain)


def test_pickles_need_trust(tmp_path: Path) -> None:
    url = f"sqlite-kv://{tmp_path}/s.db"
    with pytest.raises(serialpack.RefusedError, match="trust=True"):
        serialpack.store(url, chain="pickle")
    assert not [*tmp_path.iterdir()]
    with serialpack.store(url, chain="pickle", trust=True) as store:
        store["a"] = {1, 2}
    with pytest.raises(serialpack.RefusedError, match="trust=True"):
        serialpack.store(url)
    with serialpack.store(url, trust=True) as store:
        assert store["a"] == {1, 2}


def test_flags_are_those_of_dbm(tmp_path: Path) -> None:
    url = f"sqlite-kv://{tmp_path}/s.db"
    for flag in ("r", "w"):
        with pytest.raises(FileNotFoundError):
            serialpack.store(url, flag)
    serialpack.store(url, "n").close()
    with pytest.raises(FileExistsError):
        serialpack.store(url, "n")
    with serialpack.store(url, "w") as store:
        store["a"] = 1
    with serialpack.store(url, "n", force=True) as store:
        assert not store
    with pytest.raises(serialpack.UsageError, match="flag"):
        serialpack.store(url, "x")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="closed"):
        store["a"]


@pytest.mark.parametrize("chain", ["raw", "columns", "csv", "parquet"])
def test_what_holds_no_value_alone_is_refused(tmp_path: Path, chain: str) -> None:
    with pytest.raises(serialpack.UsageError, match="msgpack, json or objects"):
        serialpack.store(f"sqlite-kv://{tmp_path}/s.db", chain=chain)
    assert not [*tmp_path.iterdir()]


def test_the_header_is_read_once_when_a_store_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was read twice: for what it says, and to compare it with later."""
    url = f"sqlite-kv://{tmp_path}/s.db"
    with serialpack.store(url) as store:
        store["a"] = 1
    kind = store_named(url).kind
    get, asked = kind.get, []

    def counted(self: Any, key: bytes) -> bytes | None:
        asked.append(key)
        return get(self, key)

    monkeypatch.setattr(kind, "get", counted)
    with serialpack.store(url) as store:
        assert asked == [HEADER_KEY]
        assert store["a"] == 1
