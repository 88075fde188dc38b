"""YAML as it is written: it reads back, by every parser, and is refused where it would not."""

from __future__ import annotations

import io
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

import serialpack
from serialpack.errors import RefusedError
from serialpack.formats.base import Unheld
from serialpack.formats.shared.document import Malformed
from serialpack.formats.yaml.read import read
from serialpack.formats.yaml.scalars import needs_quotes, plain_tag
from serialpack.formats.yaml.write import write
from serialpack.values.equality import difference
from serialpack.values.yaml_tags import PREFIX

PARSERS = [getattr(yaml, name) for name in ("CSafeLoader", "SafeLoader") if hasattr(yaml, name)]


def _same(one: Any, other: Any) -> bool:
    return difference(one, other) is None


_odd = st.text(
    "ab 01:-#?'\"\\\n\t\r\x85\u2028\ufeff\x00\x7f\u00e9\U0001f600,[]{}&*!|>%@`~=<.yn", max_size=9
)
_words = st.sampled_from([
    *("yes", "1:30", "0777", "1e3", "null", "~", "<<", "=", "---", "...", "2001-01-01", "0o7"),
    *("y", "N", "#a", ".inf", "1_0", "!a", "@", "a:", "-a", "a:b", "a#b", "%YAML 1.1", "08"),
    *("", " a", "a ", "\n", "- a", "a: b", "a #b", "? a", "1.5", "1.5e3", "0x1F", "0b1"),
])  # fmt: skip
_text = st.one_of(st.text(st.characters(exclude_categories=["Cs"])), _odd, _words)
_zones = st.one_of(
    st.none(), st.integers(-1439, 1439).map(lambda m: timezone(timedelta(minutes=m)))
)
_times = st.datetimes(timezones=_zones).map(lambda value: value.replace(fold=0))
_keys = st.one_of(
    *(_text, st.integers(), st.booleans(), st.none(), st.binary(max_size=60), st.dates(), _times),
    st.floats(allow_nan=False),
)
_values = st.recursive(
    _keys,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(_keys, inner, max_size=4),
        st.sets(_keys, max_size=3),
    ),
    max_leaves=10,
)


@given(st.lists(_values, max_size=3), st.booleans())
def test_what_is_written_reads_back(records: list[Any], explicit: bool) -> None:
    data = write(records, explicit=explicit)
    for found in (
        read(data),
        read(data, core=False),
        *(list(yaml.load_all(data, Loader=parser)) for parser in PARSERS),
    ):
        assert len(found) == len(records)
        assert all(map(_same, records, found))


@given(st.lists(_values, max_size=3))
def test_what_is_written_for_yaml_1_1_reads_back(records: list[Any]) -> None:
    """As containers of YAML have it that were packed when all YAML was YAML 1.1."""
    data = write(records, explicit=False, core=False)
    assert all(map(_same, records, read(data, core=False)))
    if not any(word in repr(records) for word in ("datetime", "\\x85", "\\u2028")):
        assert write(records, explicit=False) == data


def test_dates_have_a_tag_and_odd_line_ends_are_escapes() -> None:
    """YAML 1.2 takes the dates for text, and the line ends too."""
    moment = datetime(2001, 12, 14, 21, 59, 43, 100000, timezone(timedelta(hours=-5)))
    data = write([{"day": moment.date(), "at": [moment]}, "a\x85b\u2028c\u2029"], explicit=False)
    assert data == (
        b"day: !!timestamp 2001-12-14\nat:\n"
        b"- !!timestamp 2001-12-14 21:59:43.100000-05:00\n"
        b'--- "a\\Nb\\Lc\\P"\n'
    )


@pytest.mark.parametrize("text", ["no", "on", "y", "N", "1:30", "0777", "~", "1e3", ".inf", "0o7"])
@pytest.mark.parametrize("make", [lambda text: text, lambda text: {text: [text]}])
def test_words_that_some_reader_takes_for_others_are_quoted(text: str, make: Any) -> None:
    data = write([make(text)], explicit=False).decode()
    assert data.count(f"'{text}'") == data.count(text)


def test_the_text_is_that_of_pyyaml(shared_data: Path) -> None:
    paths = sorted((shared_data / "yaml-real").glob("*.yaml"))
    assert paths
    for path in paths:
        source = path.read_bytes()
        plain = list(yaml.load_all(source, Loader=yaml.CSafeLoader))
        records = read(source)
        assert _same(records, plain)
        assert _same(read(source, core=False), plain)
        text = yaml.dump_all(
            plain, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True, width=1 << 30
        )
        assert write(records, explicit=False) == text.encode()
        assert _same(read(text.encode()), plain)


@pytest.mark.parametrize(
    "value",
    [
        *((1, 2), [()], {(1,): 2}, frozenset("a"), {frozenset("a")}, bytearray(b"a"), 1j),
        *(timedelta(1), datetime(2001, 1, 1).time(), object(), len, [type], "\ud800"),
        datetime(2001, 1, 1, tzinfo=timezone(timedelta(0), "name")),
        datetime(2001, 1, 1, tzinfo=timezone(timedelta(seconds=1))),
        datetime(2001, 1, 1, fold=1),
        type("Text", (str,), {})("a"),
        10**5000,
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_yaml_has_no_words_for_is_refused(value: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        write([[value]], explicit=True)


@given(st.text("0123456789_.:-+eExXobnyNYes~TZ ", max_size=12))
def test_plain_text_is_resolved_as_by_pyyaml(text: str) -> None:
    resolver: Any = yaml.SafeLoader("")
    tag = resolver.resolve(yaml.ScalarNode, text, (True, False)).removeprefix(PREFIX)
    assert plain_tag(text, core=False) == tag
    if {tag, plain_tag(text, core=True)} != {"str"}:
        assert needs_quotes(text)


_tokens = st.sampled_from([
    *("a", "b: ", "- ", "\n", "  ", "&x ", "*x", "<<: ", "[", "]", "{", "}", ", ", "? ", ": "),
    *("1", "!!set ", "!!str ", "!!int ", "'", '"', "|", "#", "---\n", "...\n", "~", "\t", "! "),
])  # fmt: skip


@given(st.lists(_tokens, max_size=14).map("".join))
def test_any_text_is_read_as_by_pyyaml_or_refused(text: str) -> None:
    try:
        found = read(text.encode(), core=False)
    except (Malformed, Unheld, RefusedError) as error:
        at = getattr(error, "at", None)
        if at is not None and not 0 <= at <= len(text.encode()):
            raise
        return
    try:
        plain = list(yaml.load_all(text, Loader=PARSERS[0]))
    except yaml.YAMLError as error:
        assume("duplicate anchor" not in str(error) and "determine a constructor" not in str(error))
        raise
    assert _same(found, plain)
    assert _same(read(write(found, explicit=True)), plain)
    assert _same(read(write(found, explicit=True, core=False), core=False), plain)


def test_what_repeats_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Making the events took more time than writing them: of the same short text, one for all."""
    made: list[str] = []
    make = yaml.events.ScalarEvent.__init__

    def counted(event: Any, *facts: Any, **more: Any) -> None:
        made.append(facts[3])
        make(event, *facts, **more)

    one = write([[{"key": "on", "flag": True}]], explicit=False)
    monkeypatch.setattr(yaml.events.ScalarEvent, "__init__", counted)
    rows = [{"key": "on", "flag": True} for _ in range(100)]
    assert write([rows], explicit=False) == one * 100
    assert sorted(made) == ["false", "flag", "key", "null", "on", "true"]


@pytest.mark.parametrize("core", [True, False])
@pytest.mark.parametrize("word", ["null", "NULL", "true", "False", "yes", "No", "on", "OFF"])
def test_only_words_themselves_are_no_text(word: str, core: bool) -> None:
    """The first letter and the length tell most text before its pattern is looked at."""
    is_core = word.lower() in ("null", "true", "false")
    assert (plain_tag(word, core=core) != "str") == (is_core or not core)
    for longer in (word + "s", word + "sssss", word + " " * 5):
        assert plain_tag(longer, core=core) == "str"
        assert not needs_quotes(longer)
    assert needs_quotes(word)


@pytest.mark.parametrize("start", [b"a: ", b""], ids=["map", "text, which gets a mark anyway"])
def test_a_mark_at_the_end_of_a_document_is_written_again(start: bytes) -> None:
    text = start + b"x" * 70_000 + b"\n...\n---\nb: 2\n"
    packed, unpacked = io.BytesIO(), io.BytesIO()
    serialpack.pack(
        io.BytesIO(text), packed, serializer="json", format="yaml", block_size=64 << 10, exact=True
    )
    packed.seek(0)
    serialpack.unpack(packed, unpacked)
    assert unpacked.getvalue() == text
