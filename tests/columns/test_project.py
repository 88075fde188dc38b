"""Some fields of a block's records are what a projection of the parsed records has."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serialpack.columns.fields import projecting
from serialpack.columns.fields.json import NotMapsError, Projection, UntoldError, untied
from serialpack.columns.parse.nodes import KEY
from serialpack.columns.parse.shape import split
from serialpack.columns.texts import Broken, Texts
from serialpack.values.structure import Structure
from tests.columns.projections import Field, Map, check, flipped, parse, paths_of, projected

spaces = st.sampled_from(["", "", "", " ", "\t", " " * 70, "\r"])
keys = st.sampled_from(['"a"', '"b"', '"c"', '"d"', '"é"', r'"\u00e9"', '"b.c"', r'"\"{["'])
scalars = st.sampled_from(
    ["null", "true", "false", "1", "-0", "1.00", "1E5", "123456789012345678901234567890"]
    + 2 * ["[]", "{}"]
    + ["[ ]", "{ }", '""', '"x"', r'"\u00e9\\"', '"}],:"', '"é"', r'"\""', "[" + " " * 70 + "]"]
)


def _lists(items: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    spaced = st.tuples(spaces, items, spaces).map("".join)
    return st.lists(spaced, max_size=4).map(lambda found: "[" + ",".join(found) + "]")


def _maps(items: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pairs = st.tuples(spaces, keys, spaces, st.just(":"), spaces, items, spaces).map("".join)
    return st.lists(pairs, max_size=4).map(lambda found: "{" + ",".join(found) + "}")


def _by_data(items: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """A map of so many keys that they are data; sometimes those that are asked for among them."""
    names = [f'"k{n}"' for n in range(64)]
    return st.tuples(st.lists(items, min_size=1, max_size=4), st.lists(keys, max_size=2)).map(
        lambda made: (
            "{"
            + ",".join(
                f"{key}:{made[0][n % len(made[0])]}" for n, key in enumerate(names + made[1])
            )
            + "}"
        )
    )


values = st.recursive(
    scalars, lambda items: st.one_of(_lists(items), _maps(items), _maps(items)), max_leaves=12
)
maps = st.one_of(_maps(values), _maps(values), _maps(st.one_of(values, _by_data(values))))
names = st.sampled_from(["a", "b", "c", "d", "é", "b.c", '"{[', "k5", "x"])
fields_of = st.lists(st.lists(names, min_size=1, max_size=3).map(tuple), max_size=4)
records_of = st.tuples(st.lists(maps, max_size=6), st.sampled_from([1, 1, 3, 30])).map(
    lambda made: made[0] * made[1]
)


@settings(max_examples=60, deadline=None)
@given(records_of, fields_of, st.sampled_from(["\n", "\r\n", "\n\n", " \n\t"]), st.booleans())
def test_lines_of_any_spelling(
    records: list[str], fields: list[Field], newline: str, ends: bool
) -> None:
    text = newline.join(records) + (newline if ends else "")
    check(text.encode(), [parse(record) for record in records], fields)


@settings(max_examples=50, deadline=None)
@given(records_of, fields_of, st.sampled_from([",", ",\n  ", " , "]), st.data())
def test_elements_of_a_list_in_blocks(
    records: list[str], fields: list[Field], comma: str, data: st.DataObject
) -> None:
    parsed = [parse(record) for record in records]
    stop = data.draw(st.integers(1, max(len(records), 1)))
    head = "\ufeff [\n" if stop % 2 else "["
    if stop >= len(records):
        check(f"{head}{comma.join(records)}]\n".encode(), parsed, fields, "a")
        return
    text = head + comma.join(records[:stop]) + comma
    check(text.encode(), parsed[:stop], fields, "a", last=False)
    text = comma.join(records[stop:]) + "\n]"
    check(text.encode(), parsed[stop:], fields, "a", first=False)
    text = comma.join(records[stop:]) + comma
    check(text.encode(), parsed[stop:], fields, "a", first=False, last=False)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(keys, values), max_size=6), fields_of, st.booleans(), st.booleans())
def test_members_of_a_map_in_blocks(
    members: list[tuple[str, str]], fields: list[Field], first: bool, last: bool
) -> None:
    members = [*members, *((f'"{n}"', value) for n in range(10) for _, value in members)]
    text = ("{ " if first else "") + ",\n".join(f"{key} : {value}" for key, value in members)
    text += "}" if last else ", " if members else ""
    records = [parse(f"{{{key}:{value}}}") for key, value in members]
    check(text.encode(), records, fields, "m", first=first, last=last)


@settings(max_examples=40, deadline=None)
@given(maps, fields_of, st.sampled_from(["", "\n", "\ufeff\n"]))
def test_a_document_is_a_record(record: str, fields: list[Field], before: str) -> None:
    check(f"{before}{record}\n".encode(), [parse(record)], fields, "d")


LINES = [
    b'{"id": %d, "b": {"c": 1.%d0, "d": "\\u00e9\\/%d"}, "tags": [%b], "last": %b}'
    % (n, n, n, b", ".join([b'"t"'] * (n % 3)), (b"true", b"[ ]", b"{}", b'"x"')[n % 4])
    for n in range(40)
]


def of_lines(lines: list[bytes], *fields: Field, inside: str = "n") -> list[bytes]:
    found = split(b"\n".join(lines) + b"\n", "json")
    assert found is not None
    return projected(found, list(fields), inside).splitlines()


def test_values_are_copied_as_they_are_spelled() -> None:
    assert of_lines(LINES, ("b", "d"), ("id",))[7] == b'{"id":7,"b":{"d":"\\u00e9\\/7"}}'
    assert of_lines(LINES, ("b",), ("tags",))[8] == (
        b'{"b":{"c":1.80,"d":"\\u00e9\\/8"},"tags":["t","t"]}'
    )
    assert of_lines(LINES, ("last",))[:4] == [
        b'{"last":true}',
        b'{"last":[]}',
        b'{"last":{}}',
        b'{"last":"x"}',
    ]
    assert of_lines(LINES, ("last", "x"))[:4] == [b"{}", b'{"last":[]}', b'{"last":{}}', b"{}"]
    assert of_lines(LINES, ("nope",)) == [b"{}"] * 40
    assert of_lines(LINES) == [b"{}"] * 40


def test_symbols_whose_pairs_make_no_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projecting, "_FEW", 1)
    more = [{"b": {"c": [n, {}]}} | ({"d": "x"} if n % 3 else {}) for n in range(40)]
    lines = [json.dumps({"a": 1} | each) for each in more]
    fields: list[Field] = [("b", "c"), ("d",)]
    check("\n".join(lines).encode(), [parse(line) for line in lines], fields)


def test_a_key_with_a_dot_in_it() -> None:
    lines = [b'{"b.c": 1, "b": {"c": 2, "d": 3}, "z": 4}', b'{"b.c": 1}', b'{"b": {"c": 2}}'] * 9
    assert of_lines(lines, ("b", "c"), ("b.c",))[:3] == [
        b'{"b.c":1,"b":{"c":2}}',
        b'{"b.c":1}',
        b'{"b":{"c":2}}',
    ]


def test_elements_of_lists_keep_their_places() -> None:
    for friends, expected in {
        b'[{"name": "x", "age": 1}, {"name": "y"}]': b'[{"name":"x"},{"name":"y"}]',
        b'[1, {"name": "x"}, {"age": 1}, null, {}]': b'[null,{"name":"x"},{},null,{}]',
        b'[[], [{"name": 1}], "x", true]': b'[[],[{"name":1}],null,null]',
        b"[]": b"[]",
        b"{}": b"{}",
    }.items():
        lines = [b'{"a": 1, "friends": %b, "z": 2}' % friends] * 20
        assert of_lines(lines, ("friends", "name")) == [b'{"friends":%b}' % expected] * 20
    for friends in (b"null", b"3", b'"x"', b"true"):
        lines = [b'{"a": 1, "friends": %b, "z": 2}' % friends] * 20
        assert of_lines(lines, ("friends", "name")) == [b"{}"] * 20


def test_the_columns_of_the_fields_alone_are_needed() -> None:
    found = split(b"\n".join(LINES), "json")
    assert found is not None
    paths = [column.path for column in found.shape.columns]
    projection = Projection(
        found.shape,
        [("b", "c"), ("id", "x"), ("y",)],
        inside=Structure.SEQUENCE,
        first=True,
        last=True,
    )
    assert [paths[number] for number in projection.columns if paths[number] != (b"id",)] == [
        (b"b", b"c")
    ]
    assert projection.missing == [("id", "x"), ("y",)]
    with pytest.raises(Broken, match="length"):
        projection.lines(lambda _: Texts.from_list([b"1"]))


def test_fields_among_keys_that_are_data() -> None:
    members = [b'"k%d": {"n": %d, "m": {"o": [%d]}}' % (n * n, n, n) for n in range(400)]
    document = b'{"by": {%b}, "of": {%b}}' % (b", ".join(members), b", ".join(members))
    for text, inside, names in (
        (document, "d", ("by",)),
        (b"{%b}" % b", ".join(members), "m", ()),
    ):
        found = split(text, "json")
        assert found is not None
        assert any(node.kind == KEY for node in found.shape.nodes)
        fields = [(*names, "k25", "n"), (*names, "k49", "m", "o"), (*names, "k2", "n")]
        projection = Projection(
            found.shape, fields, inside=Structure(inside), first=True, last=True
        )
        lines = projection.lines(found.columns.__getitem__).splitlines()
        assert projection.missing == [(*names, "k2", "n")]
        some = [b'"k25":{"n":5}', b'"k49":{"m":{"o":[7]}}']
        if inside == "d":
            assert lines == [
                b'{"by":{"k0":{},' not in lines[0] and b'{"by":{%b}}' % b",".join(some)
            ]
        else:
            assert len(lines) == 400
            assert [line for line in lines if line != b"{}"] == [b"{%b}" % one for one in some]


@pytest.mark.parametrize("odd", [b"3", b"[]", b'[{"id": 1}]', b"null", b'"x"', b"[ ]"])
def test_records_that_are_no_maps_are_said(odd: bytes) -> None:
    lines = [*LINES[:30], odd, *LINES]
    with pytest.raises(NotMapsError) as caught:
        of_lines(lines, ("id",))
    assert caught.value.record == 30
    found = untied(b"[" + b",".join(lines) + b"]")
    with pytest.raises(NotMapsError) as caught:
        projected(found, [("id",)], "a")
    assert caught.value.record == 30


@pytest.mark.parametrize(
    "odd",
    [
        b'{"a": 1 2}', b'{"a" 1}', b"{a: 1}", b'{"a": 1,}', b'{"a": 1}}', b'{"a": [1}',
        b'{"a": 1} {"a": 2}', b'{"a":\n1}', b'{"a": 1', b'{"a": [1,, 2]}', b'{"a"}', b'{,"a": 1}',
        b'{"a": {"b": 1]}', b'{"a":: 1}', b"{1: 2}", b'{"a": 1},', b"]", b"[",
        b'\xef\xbb\xbf{"a": 1}', b'{"a": 1, "a', b'{"a": "\n"}', b"{[]: 1}",
    ],
)  # fmt: skip
def test_what_is_no_json_is_refused(odd: bytes) -> None:
    for lines in ([*LINES, odd, *LINES], [*LINES, odd]):
        text = b"\n".join(lines) + b"\n"
        for found in (split(text, "json"), untied(text)):
            assert found is not None
            with pytest.raises(UntoldError):
                projected(found, [("a",)])


def test_a_block_that_is_something_else_is_refused() -> None:
    lines = b"\n".join(LINES)
    elements = b",".join(LINES)
    for text, inside, first, last in (
        (b"[" + elements + b"]", "n", True, True),
        (b"[" + elements + b"]", "a", True, False),
        (b"[" + elements + b"]", "m", True, True),
        (b"[" + elements, "a", True, True),
        (b"[" + elements + b",", "a", True, True),
        (elements + b",", "a", True, False),
        (b"[" + elements + b",", "a", False, False),
        (b"[" + elements + b"]]", "a", True, True),
        (b"[" + elements + b"] 1", "a", True, True),
        (lines, "a", False, True),
        (lines, "d", True, True),
    ):
        with pytest.raises(UntoldError):
            projected(untied(text), [("id",)], inside, first=first, last=last)
    found = split(b"a,b\n" + b"1,2\n" * 9, "csv")
    assert found is not None
    with pytest.raises(ValueError, match="JSON"):
        projected(found, [("a",)])
    with pytest.raises(ValueError, match="without a name"):
        projected(untied(lines), [()])


def test_a_block_of_another_number_of_records_is_refused() -> None:
    """An empty list with a newline in it is one value of the structure, but two lines."""
    found = untied(b"\n".join([*LINES, b'{"a": [\n]}']))
    for records in (40, 42):
        projection = Projection(
            found.shape,
            [("id",)],
            inside=Structure.SEQUENCE,
            first=True,
            last=True,
            records=records,
        )
        with pytest.raises(UntoldError, match="records"):
            projection.lines(found.columns.__getitem__)


def test_deep_nesting_takes_no_stack() -> None:
    deep = b'{"a": ' + b"[" * 20_000 + b"1" + b"]" * 20_000 + b"}\n"
    for fields, expected in {
        (("a",),): deep.replace(b" ", b""),
        (("a", "b"),): deep.replace(b" ", b"").replace(b"1", b"null"),
        (("b",),): b"{}\n",
    }.items():
        projection = Projection(
            untied(deep).shape, fields, inside=Structure.SEQUENCE, first=True, last=True
        )
        assert projection.lines(lambda _: Texts.from_list([b"1"])) == expected


def test_flipped_structures_are_refused_or_harmless() -> None:
    """Whatever comes of it is no error of another kind, and no larger than the text."""
    text = b"[" + b",\n".join(LINES * 5) + b"]"
    found = split(text, "json")
    assert found is not None
    read = 0
    for shape, columns in flipped(found, len(text), 11):
        read += 1
        fields = [("id",), ("b", "d"), ("tags", "x")]
        try:
            projection = Projection(shape, fields, inside=Structure.ARRAY, first=True, last=True)
            assert len(projection.lines(columns.__getitem__)) <= 2 * len(text)
        except (UntoldError, Broken):
            pass
    assert read > 20


def test_real_files(shared_data: Path) -> None:
    compared = 0
    for path in sorted((shared_data / "json").iterdir()) + sorted(
        (shared_data / "tabular").glob("*.json")
    ):
        text = path.read_bytes()
        document = parse(text.decode())
        inside = "d" if isinstance(document, Map) else "a"
        records = [document] if inside == "d" else document
        if not all(isinstance(record, Map) for record in records):
            with pytest.raises(NotMapsError):
                projected(untied(text), [("a",)], inside)
            continue
        known = sorted(paths_of(records))
        chance = random.Random(path.name)
        for number in (1, 4) if len(text) < 1 << 19 else (2,):
            fields = chance.sample(known, min(number, len(known)))
            check(text, records, [*fields, ("no such", "field")], inside)
            compared += 1
        if inside == "d" and len(document) > 1:
            members = [Map([pair]) for pair in document]
            check(text, members, chance.sample(known, 2), "m")
    for path in sorted((shared_data / "ndjson").glob("gsm8k*")):
        text = path.read_bytes()
        check(text, [parse(line) for line in text.decode().split("\n")[:-1]], [("answer",)])
        compared += 1
    assert compared > 20
