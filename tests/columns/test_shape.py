"""JSON text of any spelling becomes columns and comes back; and so does any other."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serialpack.columns.parse import json_tokens
from serialpack.columns.parse.nodes import KEY, SCALAR, STRING, Mark
from serialpack.columns.parse.shape import join, split
from serialpack.columns.stored import structure
from serialpack.columns.stored.structure import KINDS_OF_TEXT, Column
from tests.columns.shapes import columns_of, there_and_back

# Texts, not values: every spelling that JSON allows, and some that it does not.

spaces = st.sampled_from([b"", b"", b" ", b"\n", b"\r\n  ", b"\t", b" " * 70])
strings = st.one_of(
    st.text(max_size=12).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.sampled_from(
        [rb"\u00e9", rb"\/", rb"\\", rb"\"", rb"\\\"", b"\xff", b"[", b"{}", b":,", b""]
    ),
).map(lambda text: b'"' + text.replace(b'"', b'\\"').replace(b'\\\\"', b'\\\\\\"') + b'"')
numbers = st.sampled_from(
    [b"0", b"-0", b"1", b"1.0", b"1.00", b"1E5", b"1e-400", b"123456789012345678901234567890"]
)
literals = st.sampled_from(
    [b"null", b"true", b"false", b"[]", b"{}", b"[ ]", b"{\n}", b"nul", b"NaN"]
)
keys = st.one_of(st.sampled_from([b'"a"', b'"b"', b'"c"', rb'"\""']), strings)


@st.composite
def _lists(draw: st.DrawFn, items: st.SearchStrategy[bytes]) -> bytes:
    inner = [draw(spaces) + item + draw(spaces) for item in draw(st.lists(items, max_size=5))]
    return b"[" + b",".join(inner) + b"]"


@st.composite
def _maps(draw: st.DrawFn, items: st.SearchStrategy[bytes]) -> bytes:
    inner = [
        draw(spaces) + draw(keys) + draw(spaces) + b":" + draw(spaces) + item + draw(spaces)
        for item in draw(st.lists(items, max_size=5))
    ]
    return b"{" + b",".join(inner) + b"}"


values = st.recursive(
    st.one_of(strings, numbers, literals),
    lambda items: st.one_of(_lists(items), _maps(items)),
    max_leaves=20,
)
separators = st.sampled_from([b"\n", b"\r\n", b"\n\n", b",", b",\n  ", b" ", b""])


@st.composite
def json_texts(draw: st.DrawFn) -> bytes:
    records = draw(st.lists(values, max_size=6))
    # Many alike, so that there are columns.
    records *= draw(st.sampled_from([1, 1, 3, 40]))
    head = draw(st.sampled_from([b"", b"[", b"{", b"\xef\xbb\xbf", b" \n", b'{"a": [', b"]"]))
    tail = draw(st.sampled_from([b"", b"]", b"}", b"\n", b",", b"]}\n", b'"']))
    return head + draw(separators).join(records) + tail


@settings(max_examples=100, deadline=None)
@given(json_texts())
def test_json_texts_come_back(data: bytes) -> None:
    there_and_back(data)


@settings(max_examples=100, deadline=None)
@given(
    st.text(alphabet='{}[],:"\\ \n\r\t1.enulltrfasx\0é', max_size=60).map(str.encode),
    st.sampled_from(list(KINDS_OF_TEXT)),
)
def test_rubbish_comes_back(data: bytes, kind: str) -> None:
    there_and_back(data, kind)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200), st.sampled_from(list(KINDS_OF_TEXT)))
def test_bytes_come_back(data: bytes, kind: str) -> None:
    there_and_back(data, kind)


def test_records_of_a_stream_are_columns() -> None:
    lines = [
        b'{"id": %d, "name": {"first": "N%d"}, "tags": [%b], "on": %b, "note": %b}\n'
        % (
            number,
            number,
            b", ".join(b'"t%d"' % tag for tag in range(number % 3 + 1)),
            b"true" if number % 2 else b"false",
            b"null" if number % 5 else b'"seldom"',
        )
        for number in range(40)
    ]
    found = there_and_back(b"".join(lines))
    columns = columns_of(found)
    assert columns == {
        Column((b"id",), SCALAR): [b"%d" % number for number in range(40)],
        Column((b"name", b"first"), STRING): [b"N%d" % number for number in range(40)],
        Column((b"tags", Mark.ITEM), STRING): [
            b"t%d" % tag for number in range(40) for tag in range(number % 3 + 1)
        ],
        Column((b"note",), STRING): [b"seldom"] * 8,
    }
    assert found is not None
    assert found.shape.records == 40
    for start in range(0, 40, 7):
        for stop in range(start + 1, 41, 5):
            text = b"".join(lines[start:stop])[:-1]
            assert join(*found, start, stop) == text
    with pytest.raises(IndexError):
        join(*found, 3, 41)


@pytest.mark.parametrize(
    ("head", "between", "tail"),
    [
        (b"[", b", ", b"]"),
        (b"\xef\xbb\xbf[\n  ", b",\n  ", b"\n]\n"),
        (b"", b",\n", b",\n"),
        (b"", b",\n", b"]"),
        (b"\n", b"\r\n", b""),
        (b"", b"", b""),
    ],
)
def test_records_are_found_wherever_a_block_begins(
    head: bytes, between: bytes, tail: bytes
) -> None:
    """In an array, its beginning, middle or end; on lines; one right behind the other."""
    records = [b'{"a": %d, "b": ["x", %d]}' % (n, n * n) for n in range(20)]
    found = there_and_back(head + between.join(records) + tail)
    assert found is not None
    assert found.shape.records == 20
    assert [join(*found, n, n + 1) for n in range(20)] == records
    assert {column.path[0] for column in found.shape.columns} == {b"a", b"b"}


def test_scalars_are_records_too() -> None:
    for text in (b"1\n2\n3\n4", b"[1, 2, 3, 4]", b" 1, 2, 3, 4 ]"):
        found = there_and_back(text)
        assert found is not None
        assert [join(*found, n, n + 1) for n in range(4)] == [b"1", b"2", b"3", b"4"]
    found = there_and_back(b'"a"\n"b"\n')
    assert found is not None
    assert [join(*found, n, n + 1) for n in range(2)] == [b'"a"', b'"b"']
    found = there_and_back(b"{}\n[]\nnull\n")
    assert found is not None
    assert [join(*found, n, n + 1) for n in range(3)] == [b"{}", b"[]", b"null"]


def test_ever_new_keys_are_a_column() -> None:
    """Of the map that is all, and of one in a record."""
    names = [b"%032x" % (number * 0x9E3779B97F4A7C15F39CC0605CEDC834) for number in range(600)]
    members = [
        b'"%b": {"n": %d, "by": {"%b": 1.5}}' % (name, number, name[::-1])
        for number, name in enumerate(names)
    ]
    found = there_and_back(b"{" + b", ".join(members) + b"}")
    columns = columns_of(found)
    assert columns[Column((Mark.KEY,), KEY)] == names
    assert columns[Column((Mark.VALUE, b"by", Mark.KEY), KEY)] == [name[::-1] for name in names]
    assert columns[Column((Mark.VALUE, b"by", Mark.VALUE), SCALAR)] == [b"1.5"] * 600
    assert found is not None
    assert found.shape.records == 600
    assert join(*found, 5, 7) == b", ".join(members[5:7])
    # A block from the middle of it has the same columns.
    assert columns_of(there_and_back(b", ".join(members) + b", ")).keys() == columns.keys()


@pytest.mark.parametrize("count", [1000, 6000])
def test_keys_of_which_any_may_be_anywhere_are_a_column(count: int) -> None:
    """However much there is of them: with a megabyte each of a hundred keys stood in it more often
    than keys that are data were thought to, and there were no columns."""
    draw = random.Random(count)
    keys = [f"k{n:02}" for n in range(100)]
    records = ({key: {draw.choice(keys): n} for key in draw.sample(keys, 6)} for n in range(count))
    split_text = split("".join(json.dumps(record, indent=2) for record in records).encode(), "json")
    assert split_text is not None
    assert KEY in {node.kind for node in split_text.shape.nodes}
    assert len(split_text.shape.nodes) < 100


def test_elements_of_lists_have_places_where_all_are_as_long() -> None:
    rows = [b'{"row": ["r%d", %d, {"z": [%d.5, %d]}]}' % (n, n, n, -n) for n in range(30)]
    columns = columns_of(there_and_back(b"\n".join(rows)))
    assert {column.path for column in columns} == {
        (b"row", 0),
        (b"row", 1),
        (b"row", 2, b"z", 0),
        (b"row", 2, b"z", 1),
    }
    points = b"[" + b",".join(b"[[%d.25,%d],[%d,%d.5]]" % (n, n, n, n) for n in range(50)) + b"]"
    columns = columns_of(there_and_back(points))
    assert {column.path for column in columns} == {(0, 0), (0, 1), (1, 0), (1, 1)}


def test_an_odd_record_costs_only_itself() -> None:
    usual = [b'{"a": %d, "b": "x%d"}' % (n, n) for n in range(500)]
    plain = columns_of(there_and_back(b"\n".join(usual)))
    odd = [*usual[:250], b'{"q": [{"r": 1}], "a": "?"} what, [', *usual[250:]]
    columns = columns_of(there_and_back(b"\n".join(odd)))
    assert len(columns[Column((b"a",), SCALAR)]) >= 250
    found = there_and_back(b"\n".join([*usual[:250], b'{"q": [{"r": 1}], "a": "?"}', *usual[250:]]))
    columns = columns_of(found)
    assert all(columns[column] == texts for column, texts in plain.items())


def test_lines_cut_off_cost_only_themselves() -> None:
    """And at most the next one: behind ``{"a":`` or ``[`` it is what stands there."""
    chance = random.Random(1)
    lines = [b'{"a": %d, "b": {"c": ["x%d", %d]}, "d": "y"}' % (n, n, -n) for n in range(999)]
    cut = lines.copy()
    for n in range(4, 999, 9):
        cut[n] = lines[n][: chance.randrange(1, len(lines[n]))]
    found = there_and_back(b"\n".join(cut))
    assert found is not None
    columns = columns_of(found)
    for column in columns_of(there_and_back(b"\n".join(lines))):
        assert len(columns[column]) >= 999 - 2 * 111
    records = {join(*found, n, n + 1) for n in range(found.shape.records)}
    assert len(records & set(lines)) >= 999 - 2 * 111


def test_columns_of_few_values_are_put_together() -> None:
    """Where there are many of them even those of some more values."""
    record = (
        b"{" + b", ".join(b'"k%d": %%d, "s%d": "%%d"' % (key, key) for key in range(40)) + b"}\n"
    )
    few = b"".join(record % tuple([number] * 80) for number in range(40))
    assert set(columns_of(there_and_back(few))) == {
        Column((Mark.MIXED,), SCALAR),
        Column((Mark.MIXED,), STRING),
    }
    many = b"".join(record % tuple([number] * 80) for number in range(70))
    assert len(columns_of(there_and_back(many))) == 80
    some = b"".join(b'{"a": %d, "b": %d}\n' % (number, number) for number in range(20))
    assert len(columns_of(there_and_back(some))) == 2


def test_optional_fields_share_columns() -> None:
    """However many of 12 fields are there, or null: a column each, not one for each set of them."""
    chance = random.Random(1)
    lines = []
    for number in range(400):
        fields = [
            b'"k%d": %b' % (key, b"null" if chance.random() < 0.3 else b"%d" % number)
            for key in range(12)
            if chance.random() < 0.6
        ]
        lines.append(b'{"id": %d%b}' % (number, b"".join(b", " + field for field in fields)))
    found = there_and_back(b"\n".join(lines))
    assert found is not None
    assert len(found.columns) == 13
    assert len(found.shape.nodes) < 60


@pytest.mark.parametrize("folder", ["JSONTestSuite/test_parsing", "JSONTestSuite/test_transform"])
def test_conformance_suite(shared_data: Path, folder: str) -> None:
    files = sorted((shared_data / "conformance" / folder).glob("*.json"))
    assert len(files) > 10
    for file in files:
        there_and_back(file.read_bytes())
    there_and_back(b"\n".join(file.read_bytes() for file in files))
    there_and_back(b"\r\n".join(file.read_bytes() for file in reversed(files)))


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("json/citm_catalog.json", "json"),
        ("json/twitter.json", "json"),
        ("json/apache_builds.json", "json"),
        ("json/instruments.json", "json"),
        ("ndjson/amazon_cellphones.ndjson", "json"),
        ("tabular/us-10m.json", "json"),
        ("tabular/airports.csv", "csv"),
        ("tabular/umath-validation-set-sin.csv", "csv"),
        ("tabular/unemployment.tsv", "tsv"),
    ],
)
def test_real_files_and_mutations(shared_data: Path, name: str, kind: str) -> None:
    data = (shared_data / name).read_bytes()
    found = there_and_back(data, kind)
    assert found is not None
    assert sum(len(texts.data) for texts in found.columns) > 0.02 * len(data)
    chance = random.Random(name)
    data = data[:40_000]
    for _ in range(15):
        mutated = bytearray(data)
        for _ in range(chance.choice([1, 20])):
            place = chance.randrange(len(mutated))
            what = chance.choice(b'"\\{}[],:\n\r x0')
            if chance.random() < 0.5:
                mutated[place] = what
            else:
                del mutated[place : place + chance.randrange(1, 90)]
        there_and_back(bytes(mutated), kind)


def test_deep_and_huge() -> None:
    there_and_back(b"[" * 100_000)
    there_and_back(b"[1," * 30_000 + b"]" * 30_000)
    there_and_back(b'{"a":' * 400 + b"1" + b"}" * 400)
    there_and_back(b'"' + b"x" * 1_000_000 + b'"\n1\n')
    there_and_back(b" " * 1_000_000 + b"1")
    there_and_back(b'{"a"' + b" " * 100_000 + b": 1}\n" * 50)
    assert split(b"", "json") is None
    assert split(b"", "csv") is None
    assert split(b" \n", "json") is None


def test_texts_of_one_record_each() -> None:
    for record in (b'{"a": 1}', b"1", b'""', b"[]", b'{"a": {"b": [null]}}'):
        for end in (b"", b"\n", b",\n", b"]"):
            found = there_and_back(record + end)
            assert found is not None
            assert found.shape.records == 1
            assert join(*found, 0, 1) == record


def test_the_same_text_gives_the_same_bytes() -> None:
    data = b"".join(b'{"a": %d, "b": [%d, null, "x"]}\n' % (n % 7, n) for n in range(300))
    stored = set()
    for _ in range(3):
        found = split(data, "json")
        assert found is not None
        stored.add(structure.write(found.shape, 3))
        walk = structure.read(structure.write(found.shape, 9), len(data)).walk
        assert np.array_equal(walk, found.shape.walk)
    assert len(stored) == 1


def test_tokens_do_not_depend_on_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever a step ends: in a string, between brackets, before a colon."""
    lines = [
        b'{"a": [], "b" :{}, "c\\"": [ ], "d": "x\\\\", "e":{"f": null, "g" : [1, [], {}]}}\n',
        b'{"a":[],"b":{},"c":true,"d":"[]{}:,","e":[{"f":-0.5},[]]}\n',
    ]
    r = random.Random(13)
    data = b"".join(r.choice(lines)[: -1 - r.randrange(3) or None] + b"\n" for _ in range(300))
    data += b"[]"
    whole = split(data, "json")
    monkeypatch.setattr(json_tokens, "_STEP", 64)
    found = split(data, "json")
    assert whole is not None
    assert found is not None
    assert found.shape.nodes == whole.shape.nodes
    assert (found.shape.walk == whole.shape.walk).all()
    assert [texts.to_list() for texts in found.columns] == [
        texts.to_list() for texts in whole.columns
    ]
    assert join(*found) == data
