"""What a refusal advises is tried: the command that it names goes through."""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest

import serialpack
from serialpack.cli.app import run
from serialpack.cli.reporting.converted import told_of
from serialpack.conversion.tables.at import lists_in
from serialpack.conversion.tables.shaping import Shaping
from tests.conversion.converting import converted
from tests.conversion.test_matrix import FORMATS_HERE, sources

#: What a hint may say, in this order; nothing else.
HINT = re.compile(
    r"(?:--types (?P<types>\S+=decimal) holds it(?:; |, |$))?"
    r"(?:(?:in all \d+ .+: )?--lossy (?P<lossy>[a-z0-9,]+) lets (?:it|them) go)?"
    r"(?:, )?(?P<tagged>--tagged writes its type)?"
    r"(?:--separator (?P<separator>\S+) keeps it apart)?"
    r"(?:, )?(?:--to (?P<to>[a-z-]+)(?:, [a-z-]+)*(?: or (?P<last>[a-z-]+))? can)?"
)
NO_WAY = "no format here can"


def commands(hint: str, target: str) -> Iterator[list[str]]:
    """The ends of the commands that a hint names, the first of each sort."""
    if hint == "--to typed-xml holds it":
        yield ["--to", "typed-xml"]
        return
    found = HINT.fullmatch(
        re.sub("(puts U.FFFD there|leaves it out)$|writes null", "lets it go", hint)
    )
    assert found is not None, hint
    if found["types"]:
        yield ["--to", target, "--types", found["types"]]
    if found["lossy"]:
        yield ["--to", target, "--lossy", found["lossy"]]
    if found["separator"]:
        yield ["--to", target, "--separator", found["separator"]]
    if found["tagged"]:
        yield ["--to", target, "--tagged"]
    if found["to"]:
        yield ["--to", found["to"]]
    if found["last"]:
        yield ["--to", found["last"]]


def refusal(
    data: bytes, source: str, target: str, **how: Any
) -> serialpack.ValueRefusedError | None:
    try:
        converted(data, source, target, **how)
    except serialpack.ValueRefusedError as refused:
        return refused
    return None


#: Of a kind of which so many are held, a refusal of another is no concern of this test.
_HELD = 3


@pytest.mark.slow
@pytest.mark.parametrize("source", ["msgpack", "pickle", "yaml"])
def test_every_hint_of_the_matrix_is_a_way(source: str, tmp_path: Path) -> None:
    """Of each kind of value to each format one is tried; all of them are looked at."""
    path, out = tmp_path / "source", tmp_path / "out"
    tried, hopeless, held = set(), set(), Counter[tuple[str, str]]()
    for name, kind, _, data in sources(source):
        for target in FORMATS_HERE:
            if (kind, target) in tried or held[kind, target] == _HELD:
                continue
            refused = refusal(data, source, target)
            if refused is None:
                held[kind, target] += 1
                continue
            tried.add((kind, target))
            assert refused.hint is not None
            if refused.hint == NO_WAY:
                hopeless.add(kind)
                continue
            path.write_bytes(data)
            for words in commands(refused.hint, target):
                args = ["unpack", "-q", "-f", "--trust", "--from", source, *words, str(path)]
                code = run([*args, "-o", str(out)])
                assert code == 0, (name, target, refused.hint, words)
    assert len(tried) > 20
    # Objects of classes and the like: pickle alone holds them, and cannot advise itself.
    assert hopeless <= {"object", "function", "cycle", "number-array", "surrogates", "tuple"}


#: Records with integers that no column of Parquet holds -> where the first is, and which it is.
LARGE: dict[str, tuple[list[Any], str, str]] = {
    "beside others": ([{"a": 1}, {"a": 1 << 70}, {"a": None}], "$.a", "1180591620717411303424"),
    "alone": ([{"a": 1 << 70}], "$.a", "1180591620717411303424"),
    "negative": ([{"a": -1}, {"a": 1 << 63}], "$.a", "9223372036854775808"),
    "in lists of maps": (
        [{"z": {"q": [{"n": 2, "m": "x"}, {"n": 1 << 70}]}}],
        *("$.z.q[1].n", "1180591620717411303424"),
    ),
    "in one large map": (
        [{"z": {f"k{n}": {"n": n if n != 777 else 1 << 70} for n in range(800)}}],
        *("$.z.k777.n", "1180591620717411303424"),
    ),
    "in a map of many": (
        [{"m": {f"k{n}": n}} for n in range(9000)] + [{"m": {"last one": 1 << 70}}],
        *('$.m["last one"]', "1180591620717411303424"),
    ),
}


@pytest.mark.parametrize("name", LARGE)
def test_large_integers_have_a_way_into_a_table(name: str, tmp_path: Path) -> None:
    """--lossy bigint made text for columns of integers, --types was not named, and the place was
    that of the whole column's value."""
    records, place, value = LARGE[name]
    data = "".join(json.dumps(record) + "\n" for record in records).encode()
    refused = refusal(data, "ndjson", "parquet")
    assert refused is not None
    assert refused.value_path == place
    assert refused.record == (1 if name == "beside others" else len(records) - 1)
    assert f": {value};" in f"{refused};"
    path, out = tmp_path / "a.ndjson", tmp_path / "out"
    path.write_bytes(data)
    ways = [*commands(refused.hint or "", "parquet")]
    assert ("--types" in (refused.hint or "")) == (name != "in a map of many")
    assert ("--lossy" in (refused.hint or "")) == (name != "negative")
    for words in ways:
        assert run(["unpack", "-q", "-f", *words, str(path), "-o", str(out)]) == 0, words


def test_what_loses_nothing_is_told_beside_all_that_would_be_lost() -> None:
    refused = refusal(b'{"a":1}\n' + b'{"a":%d}\n' % (1 << 70) * 2, "ndjson", "parquet")
    assert refused is not None
    assert refused.hint == (
        "--types a=decimal holds it; in all 2 bigint (first in record 1, $.a):"
        " --lossy bigint lets them go"
    )


@pytest.mark.parametrize("to", ["parquet", "arrow"])
def test_a_large_integer_in_a_map_that_is_columns_has_its_hint(to: str) -> None:
    """The column was looked for by the first key alone, which was an internal error."""
    data = b'{"c":{"p":{"q":%d}}}\n' % (1 << 70)
    refused = refusal(data, "ndjson", to, shaping=Shaping(flatten=True))
    assert refused is not None
    assert "--types c.p.q=decimal holds it" in (refused.hint or "")
    named = Shaping(flatten=True, types=(("c.p.q", "decimal"),))
    assert refusal(data, "ndjson", to, shaping=named) is None


def ext(code: int, data: bytes) -> bytes:
    return bytes(msgpack.packb(msgpack.ExtType(code, data)))


def test_an_extension_type_is_not_its_bytes() -> None:
    refused = refusal(b"\x81\xa1v" + ext(5, b"xyz"), "msgpack", "json", strict=True)
    assert refused is not None
    assert (refused.kind, refused.value_path) == ("tag", "$.v")
    assert "--tagged writes its type" in (refused.hint or "")


def test_a_time_of_nanoseconds_is_a_timestamp() -> None:
    data = msgpack.packb({"t": msgpack.Timestamp(5, 7)})
    for target in ("json", "yaml", "cbor"):
        assert b"1970-01-01T00:00:05.000000007" in converted(data, "msgpack", target)
    before = msgpack.packb({"t": msgpack.Timestamp(-(1 << 40))})  # of no year of ISO 8601
    assert b"$msgpackTimestamp" in converted(before, "msgpack", "json")


@pytest.mark.parametrize(
    "value", [np.str_("x"), np.bytes_(b"x"), np.timedelta64(1, "D"), np.array(["a"])]
)
def test_a_numpy_value_is_called_one(value: Any) -> None:
    import pickle

    refused = refusal(pickle.dumps({"v": value}), "pickle", "json", strict=True)
    assert refused is not None
    message = str(refused)
    assert "machine numbers" not in message
    assert "array or scalar as plain values" in message
    assert refused.hint == "without --strict it is carried, or --lossy arrays"


def test_several_rules_that_a_record_needs_are_named_at_once() -> None:
    data = msgpack.packb({"b": b"x", 1: msgpack.Timestamp(5)}, strict_types=True)
    refused = refusal(data, "msgpack", "json", strict=True)
    assert refused is not None
    assert (refused.hint or "").startswith("--lossy bytes,timestamps,keys lets it go")
    refused = refusal(data, "msgpack", "json", lossy=["keys"], strict=True)
    assert refused is not None
    assert (refused.hint or "").startswith("--lossy bytes,timestamps,keys lets it go")
    how = ["bytes", "timestamps", "keys"]
    assert converted(data, "msgpack", "json", lossy=how, strict=True)
    assert converted(data, "msgpack", "json")


def test_what_the_text_says_has_its_rule_where_the_source_heeds_it() -> None:
    for text, source, hint in (
        (b'{"a":1,"a":2}', "json", "--lossy duplicates lets it go"),
        (b"[0.1000000000000000000001]", "json", "--lossy digits lets it go"),
        (b"[1e999]", "json", "--lossy digits lets it go"),
        (b"a: 1\na: 2\n", "yaml", "--lossy duplicates lets it go"),
        (b"\x82\xa1a\x01\xa1a\x02", "msgpack", "--lossy duplicates lets it go"),
    ):
        refused = refusal(text, source, "cbor")
        assert refused is not None
        assert refused.hint == hint


def test_many_bad_records_are_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left out is told with the hint of the first of its kind, which takes long to find."""
    from serialpack.conversion.blocks import hints

    calls = 0
    found = hints.hint

    def counted(*args: Any) -> Any:
        nonlocal calls
        calls += 1
        return found(*args)

    monkeypatch.setattr(hints, "hint", counted)
    data = b"".join(msgpack.packb({"n": n, "b": b"x"}) for n in range(50)) + msgpack.packb({"n": 1})
    out = io.BytesIO()
    report = serialpack.convert(
        *(io.BytesIO(data), out),
        format="msgpack",
        to="ndjson",
        skip_bad=True,
        threads=1,
        strict=True,
    )
    assert (len(report.places), calls) == (50, 1)
    assert all("--lossy bytes" in place.error for place in report.places)
    calls = 0
    converted(data, "msgpack", "ndjson")
    assert calls == 0


@pytest.mark.parametrize(("to", "calls"), [("json", [1, 1]), ("cbor", [0, 0])])
def test_what_is_refused_is_looked_for_once(
    monkeypatch: pytest.MonkeyPatch, to: str, calls: list[int]
) -> None:
    """It takes several times as long as to write it: each way of reading and writing did it."""
    from serialpack.conversion.blocks import hints
    from serialpack.serializers.base import RecordSerializer

    counts = [0, 0]

    def count(at: int, work: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any) -> Any:
            counts[at] += 1
            return work(*args)

        return counted

    monkeypatch.setattr(hints, "hint", count(0, hints.hint))
    monkeypatch.setattr(RecordSerializer, "blame", count(1, RecordSerializer.blame))
    text = "".join(f"k{number}: {number}\n" for number in range(1000)) + "x: .nan\ny: .inf\n"
    refused = refusal(text.encode(), "yaml", to)
    assert (refused is None) == (to == "cbor")
    assert counts == calls


def test_a_document_that_is_refused_is_read_again_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """To read TOML takes most of the time: it was done six times over. Now it is to count all that
    would be lost, by which what the hint names goes through."""
    from serialpack.formats.toml import read as reading

    sizes: list[int] = []
    read = reading.read

    def counted(data: bytes, *rest: Any, **more: Any) -> Any:
        sizes.append(len(data))
        return read(data, *rest, **more)

    monkeypatch.setattr(reading, "read", counted)
    refused = refusal(_MANY, "json", "toml")
    assert 'lossy=["null"] lets it go' in str(refused)
    assert len([size for size in sizes if size > 1000]) == 1
    converted(_MANY.replace(b"null", b"1"), "json", "toml")
    assert len([size for size in sizes if size > 1000]) == 2


#: A document of many numbers, and a null behind them.
_MANY = b'{"a": [' + b"1.5, " * 1000 + b'2], "b": null}'


@pytest.mark.parametrize("target", ["csv", "parquet", "avro", "sqlite"])
def test_a_table_asks_only_for_what_is_lost(target: str, tmp_path: Path) -> None:
    """Numbers in it are carried: ``types``, which makes text of them, was named and applied."""
    pytest.importorskip("pyarrow")
    source = tmp_path / "a.ndjson"
    into = tmp_path / f"a.{target}"
    for text, rule in (('{"a":"\\ud800","b":1}', "utf8"), ('{"a":1,"a":2,"b":3}', "duplicates")):
        source.write_text(text)
        with pytest.raises(serialpack.ValueRefusedError) as refused:
            serialpack.convert(source, into, to=target, force=True)
        assert f'lossy=["{rule}"] lets it go' in str(refused.value)
        report = serialpack.convert(source, into, to=target, lossy=["all"], force=True)
        assert [loss.rule for loss in report.losses] == [rule]


def test_lists_in_a_row_are_named_from_the_top() -> None:
    """Below ``--at root`` the paths that were named were those in what is there."""
    data = b'{"root": {"t": [{"a": 1}], "n": 1, "e": {}}}'
    how: dict[str, Any] = {"format": "json", "to": "csv"}
    at = Shaping(at="root")
    report = serialpack.convert(io.BytesIO(data), io.BytesIO(), shaping=at, **how)
    assert report.inside.lists == ("root.t",)
    with pytest.raises(serialpack.UsageError, match=r"\$\.root\.e has no 'x'; it is empty"):
        serialpack.convert(io.BytesIO(data), io.BytesIO(), shaping=Shaping(at="root.e.x"), **how)


@pytest.mark.parametrize(
    ("document", "lists"),
    [
        ({"ok": True, "data": {"items": [{"a": 1}], "n": 1}, "page": {"n": 1}}, ("data.items",)),
        ({"t": [{"a": 1}], "data": {"items": [{"a": 1}]}}, ("t",)),
        ({"a": {"b": {"c": [{"x": 1}]}, "d": 1}, "e": {"f": 1}}, ("a.b.c",)),
        ({"a.b": {"c": [{"x": 1}]}, "d": {"e.f": [{"x": 1}]}, "g": 1}, ()),
        ({f"id{n}": {"t": [{"x": 1}]} for n in range(9)}, ()),  # whose keys are data
    ],
)
def test_lists_beside_others_are_named_with_their_paths(
    document: dict[str, Any], lists: tuple[str, ...]
) -> None:
    """Lists below one of several keys, as an answer of a server has them, were not named."""
    data = json.dumps(document).encode()
    report = serialpack.convert(io.BytesIO(data), io.BytesIO(), format="json", to="csv")
    assert report.inside.lists == lists
    for path in lists:
        how: dict[str, Any] = {"shaping": Shaping(at=path), "lossy": ["around"]}
        serialpack.convert(io.BytesIO(data), io.BytesIO(), format="json", to="csv", **how)


@pytest.mark.parametrize(
    ("document", "at", "what", "more"),
    [
        ([{"n": 1, "t": [{"a": 1}, {"a": 2}]}], "c", "--at c.0.t ", Shaping(at="c.0.t")),
        (
            [{"a": [1, 2], "b": [3, 4]}],
            *("c", "--at c.0 --columnar", Shaping(at="c.0", columnar=True)),
        ),
    ],
)
def test_lists_in_the_one_record_of_a_list_are_named_with_its_number(
    document: list[Any], at: str, what: str, more: Shaping
) -> None:
    """Of a notebook with one cell ``--at cells.outputs`` was said, which no list has."""
    data = json.dumps({"c": document}).encode()
    how: dict[str, Any] = {"format": "json", "to": "csv"}
    report = serialpack.convert(io.BytesIO(data), io.BytesIO(), shaping=Shaping(at=at), **how)
    assert any(what in line for line in told_of(report, verbose=False))
    how["lossy"] = ["around"]
    report = serialpack.convert(io.BytesIO(data), io.BytesIO(), shaping=more, **how)
    assert report.records == 2
    assert [loss.value_path for loss in report.losses] in ([], ["$.c[0].n"])


def test_maps_in_themselves_have_no_end_of_lists() -> None:
    round_and_round: dict[str, Any] = {"n": 1}
    round_and_round |= {"a": round_and_round, "b": round_and_round}
    assert lists_in(round_and_round) == []


def test_a_strict_refusal_says_what_would_become_of_the_value() -> None:
    """It told the rule of all targets, of TOML where the target was CSV; and null was None."""
    with pytest.raises(serialpack.ValueRefusedError) as refused:
        serialpack.convert(
            io.BytesIO(b'[{"a": null}, {"a": "x"}]'),
            io.BytesIO(),
            format="json",
            to="csv",
            strict=True,
        )
    said = "csv holds it only in another shape (null as a cell): null would be "
    assert said in str(refused.value)
