"""docs/peers.md and its table in the README: made from the results, and the results are true."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from serialpack.formats import FORMATS
from tests.docs.commands import run_command
from tools._marks import between
from tools._peer_everyday import EVERYDAY, EVERYDAY_PEERS, unlike_rows
from tools._peer_reading import Invalid, Map, readings, unlike
from tools._peer_tools import (
    PEERS,
    SERIALPACK,
    Peer,
    find,
    judged,
    outcomes,
    search_path,
)
from tools._peer_values import CASES, Case
from tools.peers import (
    EVERYDAY_RESULTS,
    PAGE,
    README,
    Results,
    key_of,
    page,
    summary,
    worst,
)

RESULTS = Results.read()
EVERYDAY_OF = Results.read(EVERYDAY_RESULTS)
PATH = search_path(os.environ.get("SERIALPACK_PEERS"))
OTHERS = [peer for peer in PEERS if peer is not SERIALPACK]


def test_page_is_made_from_the_results() -> None:
    """Else: make peers-table."""
    assert PAGE.read_text("utf-8") == page(RESULTS, EVERYDAY_OF)


def test_readme_is_made_from_the_results() -> None:
    """Else: make peers-table."""
    text = README.read_text("utf-8")
    assert between(text, "peers", summary(RESULTS)) == text


def test_values_have_names_of_their_own() -> None:
    for cases in (CASES, EVERYDAY):
        assert len({key_of(case) for case in cases}) == len(cases)


@pytest.mark.parametrize(
    ("results", "cases"), [(RESULTS, CASES), (EVERYDAY_OF, EVERYDAY)], ids=["values", "everyday"]
)
def test_results_are_of_these_values(results: Results, cases: tuple[Case, ...]) -> None:
    """Every conversion that a converter knows was tried, and no other."""
    assert SERIALPACK in results.there()
    for peer in results.there():
        for case in cases:
            known = {t for t in case.targets if peer.line(case.source, t, "value") is not None}
            assert set(results.of(peer, case)) == known, peer.name


OURS = [(case, target) for case in (*CASES, *EVERYDAY) for target in case.targets]


def case_id(value: Case | str) -> str:
    return value if isinstance(value, str) else key_of(value)


@pytest.mark.parametrize(("case", "target"), OURS, ids=case_id)
def test_serialpack_does_what_the_table_says(case: Case, target: str, tmp_path: Path) -> None:
    """It changes nothing; it refuses with one line, not for want of a library or a wrong option."""
    file = f"value.{case.source}"
    line = SERIALPACK.line(case.source, target, file)
    assert line is not None
    (tmp_path / file).write_bytes(case.data())
    done = run_command(line, tmp_path)
    outcome = judged(done, case, target)
    results = EVERYDAY_OF if case in EVERYDAY else RESULTS
    assert outcome == results.of(SERIALPACK, case)[target]
    assert outcome.what in ("same", "carried", *(() if case in EVERYDAY else ("refused",)))
    if outcome.what == "refused":
        assert done.returncode in (3, 4)
        assert (done.stdout, done.stderr.count(b"\n")) == (b"", 1)
        assert done.stderr.startswith(f"serialpack: {file}".encode())


@pytest.mark.peers
@pytest.mark.soak  # what others do changes with their versions, which the table names
@pytest.mark.parametrize(
    ("results", "cases", "peer"),
    [
        *((RESULTS, CASES, peer) for peer in OTHERS),
        *((EVERYDAY_OF, EVERYDAY, peer) for peer in EVERYDAY_PEERS if peer is not SERIALPACK),
    ],
    ids=lambda value: value.name if isinstance(value, Peer) else "",
)
def test_another_converter_does_what_the_table_says(
    results: Results, cases: tuple[Case, ...], peer: Peer
) -> None:
    """Where it is installed, in the version of the table."""
    found = find(peer, PATH)
    if found is None:
        pytest.skip(f"{peer.name} is not installed")
    if found.version != results.versions.get(peer.name):
        pytest.skip(f"{peer.name} is {found.version}, the table has another version")
    for case in cases:
        expected = results.of(peer, case)
        if worst(expected) != "hung":
            assert outcomes(found, case, PATH) == expected, key_of(case)


V = Map([("v", 1), ("w", "x")])


@pytest.mark.parametrize(
    ("target", "data", "want"),
    [
        ("json", b'{"v": 1, "w": "x"}', [V]),
        ("json", b'{"w": "x", "v": 1.0}', [V]),
        ("json", b'{"v": 10e-1, "w": "\\u0078"}\n', [V]),
        ("ndjson", b'{"v": 1, "w": "x"}\n[]\n', [V, []]),
        ("json", b'["a\\ud800", 1e400, -0, -0.0]', [["a\ud800", 10**400, -0.0, -0.0]]),
        ("msgpack", b"\x82\xa1v\x01\xa1w\xa1x\x90", [V, []]),
        ("msgpack", b"\xcb\x80" + bytes(7), [-0.0]),
        ("cbor", b"\xa2\x61v\x01\x61w\x61x\x80", [V, []]),
        ("yaml", b"v: 1\nw: x\n", [V]),
        ("yaml", b"v: 0o17\n", [Map([("v", 15)])]),
        ("yaml", b"v: 0o17\n", [Map([("v", "0o17")])]),
        ("toml", b'v = 1\nw = "x"\n', [V]),
        ("csv", b'v,w\r\n"1",x\r\n', [[Map([("v", "1"), ("w", "x")])]]),
    ],
)
def test_the_same_is_taken_for_the_same(target: str, data: bytes, want: object) -> None:
    """In one reading at least: those of YAML 1.1 and 1.2 differ."""
    assert None in [unlike(want, got) for got in readings(target, data)]


@pytest.mark.parametrize(
    ("target", "data", "want"),
    [
        ("json", b'{"v": 1}', [V]),
        ("json", b'{"v": 1, "w": "x", "y": 2}', [V]),
        ("json", b'{"v": 1, "v": 1, "w": "x"}', [V]),
        ("json", b'{"v": true, "w": "x"}', [V]),
        ("json", b'{"v": "1", "w": "x"}', [V]),
        ("json", b"[1, 2, 3]", [[1, 2]]),
        ("json", b"[2, 1]", [[1, 2]]),
        ("json", b"0", [-0.0]),
        ("json", b"-0", [0]),
        ("json", b"9007199254740992", [9007199254740993]),
        ("json", b"0.3", [0.1 + 0.2]),
        ("json", b"{}", [[]]),
        ("msgpack", b"\xc4\x01x", ["x"]),
        ("msgpack", b"\x82\x01\x01\xc3\x01", [Map([(1, 1), (1, 1)])]),
        ("yaml", b"- no\n- 1e3", [["no", "1e3"]]),
        ("csv", b"v\n1\n2\n", [[Map([("v", "1")])]]),
    ],
)
def test_a_change_is_seen(target: str, data: bytes, want: object) -> None:
    assert None not in [unlike(want, got) for got in readings(target, data)]


@pytest.mark.parametrize(
    ("target", "data"),
    [
        ("json", b"NaN"),
        ("json", b"[Infinity]"),
        ("json", b'"a\0b"'),
        ("json", b'"\xff"'),
        ("json", b"[1"),
        ("json", b"[1] x"),
        ("msgpack", b"\x92\x01"),
        ("msgpack", b"\xa1\xff"),
        ("cbor", b"\x82\x01"),
        ("yaml", b"'v"),
        ("toml", b"v = "),
        ("csv", b'v\n"1'),
    ],
)
def test_what_is_not_valid_is_called_so(target: str, data: bytes) -> None:
    with pytest.raises(Invalid):
        readings(target, data)


def test_the_values_are_of_formats_that_serialpack_has() -> None:
    assert {f for case in CASES for f in (case.source, *case.targets)} <= set(FORMATS.names())


@pytest.mark.parametrize(
    ("target", "data", "want", "same"),
    [
        ("csv", b'a,m.x\n1,"[1, 2]"\n', {"a": 1, "m": {"x": [1, 2]}}, True),
        ("csv", b'a,m\n1,"{""x"": 2.50}"\n', {"a": 1, "m": {"x": 2.5}, "n": None}, True),
        ("csv", b"a,b\n00123,\n", {"a": "00123", "b": ""}, True),
        ("csv", b"a\nTrue\n", {"a": True}, True),
        ("csv", b"a\n123\n", {"a": "00123"}, False),
        ("csv", b"a\n1\n", {"a": True}, False),
        ("csv", b"a\nnull\n", {"a": None}, True),
        ("csv", b"a\nnull\n", {"a": "null"}, False),
        ("csv", b"m.1,m.2\n1,2\n", {"m": [1, 2]}, True),
        ("json", b'[{"a": 1e5}]', {"a": "1e5"}, True),
        ("csv", b"a\n", {"a": 1}, False),
        ("csv", b"a,m\n1,{'x': 2}\n", {"a": 1, "m": {"x": 2}}, False),
        ("json", b'[{"a": 1, "b": "x"}]', {"a": "1", "b": "x"}, True),
        ("json", b'[{"a": 100000.0}]', {"a": "1e5"}, False),
        ("json", b'[{"a": [1]}]', {"a": []}, False),
        ("json", b'[{"a": ', {"a": 1}, False),
    ],
)
def test_everyday_outputs_are_judged(
    target: str, data: bytes, want: dict[str, object], *, same: bool
) -> None:
    assert (unlike_rows([want], target, data) is None) is same
