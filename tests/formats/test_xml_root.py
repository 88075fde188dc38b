"""What has no one root element, and keys and lists that XML has no place for, become XML."""

from __future__ import annotations

import json
import re
from typing import Any
from xml.etree import ElementTree

import pytest

from serialpack.conversion.tables.shaping import Shaping
from serialpack.formats.xml.write import xml_name
from tests.formats.xml_documents import convert, refused, values, xml


@pytest.mark.parametrize(
    ("source", "value", "text", "at"),
    [
        ("json", [{"a": "x"}, None], "<root><item><a>x</a></item><item/></root>", "root.item"),
        ("json", [{"a": "x"}], "<root><item><a>x</a></item></root>", "root.item"),
        ("json", [], "<root/>", "root.item"),
        ("json", {"a": "x", "b": None}, "<root><a>x</a><b/></root>", "root"),
        ("json", {"a": ["x", "y"]}, "<root><a>x</a><a>y</a></root>", "root"),
        ("ndjson", [{"a": "x"}, {"a": "y"}], None, "root.item"),
        ("ndjson", [{"a": "x", "b": "y"}], None, "root.item"),
        ("csv", [{"a": "x"}], None, "root.item"),
        ("csv", [{"a": "x", "b": "y"}, {"a": "z", "b": "w"}], None, "root.item"),
    ],
)
def test_what_has_no_root_gets_one_and_comes_back(
    source: str, value: Any, text: str | None, at: str
) -> None:
    """It was refused, though records become XML in this way wherever they do."""
    data, _ = convert(json.dumps(value).encode(), "json", source)
    written, report = convert(data, source, "xml")
    if text is not None:
        assert written.decode().partition("?>\n")[2].strip() == text
    assert {loss.rule: loss.count for loss in report.carried if loss.rule != "lists"} == {"root": 1}
    assert report.back == ("-F", "xml", "--at", at)
    back, _ = convert(written, "xml", "json", shaping=Shaping(at=at))
    assert json.loads(back) == value
    error = refused(data.decode(), source, "xml", strict=True)
    assert (error.exit_code, "(document in a root)" in str(error)) == (4, True)


def test_a_scalar_gets_a_root() -> None:
    assert xml(5) == "<root>5</root>"
    assert xml("x") == "<root>x</root>"
    for alone in (b"5", b"{}"):  # --at root takes neither
        assert convert(alone, "json", "xml")[1].back == ()


def test_one_line_that_is_a_document_stays_one() -> None:
    """What XML became as lines is the same XML again."""
    text = "<a><b>x</b></a>"
    lines, _ = convert(text.encode(), "xml", "ndjson")
    data, report = convert(lines, "ndjson", "xml")
    assert (xml(json.loads(lines)), report.carried) == (text, [])
    assert text.encode() in data


def test_lists_within_lists_are_items() -> None:
    value = {"a": {"b": [["1", ["2", "3"]], [], ["4"]]}}
    text = xml(value)
    assert text == (
        "<a><b><item>1</item><item><item>2</item><item>3</item></item></b><b/>"
        "<b><item>4</item></b></a>"
    )
    _, report = convert(json.dumps(value).encode(), "json", "xml")
    counts = {loss.rule: loss.count for loss in report.carried}
    assert counts == {"items": 4, "lists": 1}


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("First Name", "First_x0020_Name"),
        ("1", "_x0031_"),
        ("2b", "_x0032_b"),
        ("-", "_x002D_"),
        ("a/b", "a_x002F_b"),
        ("#", "_x0023_"),
        ("a\tb", "a_x0009_b"),
        ("_x0020_ a", "_x005F_x0020__x0020_a"),
        ("_x0020_", "_x0020_"),
        ("_x", "_x"),
        ("#text ", "_x0023_text_x0020_"),
        ("Größe (cm)", "Größe_x0020__x0028_cm_x0029_"),
    ],
)
def test_keys_are_spelled_as_names(key: str, name: str) -> None:
    """By SQL/XML, so that others can tell the key: a header of CSV has mostly blanks."""
    assert xml({"r": {key: "x"}}) == f"<r><{name}>x</{name}></r>"
    assert xml({"r": {f"@{key}": "x"}}) == f'<r {name}="x"/>'
    assert xml({key: {"a": "x"}}) == f"<{name}><a>x</a></{name}>"
    assert xml_name(key) == name or key == name
    spelled = re.sub("_x([0-9A-F]{4})_", lambda found: chr(int(found[1], 16)), xml_name(key))
    assert spelled == key


def test_keys_that_are_called_attributes_are_elements_where_they_are_no_text() -> None:
    """JSON-LD was refused, and so was a header with an empty cell, as spreadsheets have it."""
    value = {"@context": {"@vocab": "u"}, "@id": "x", "@type": ["A", "B"], "#text": {"": 1}}
    assert xml({"r": value}) == (
        '<r id="x"><_x0040_context vocab="u"/><_x0040_type>A</_x0040_type><_x0040_type>B'
        "</_x0040_type><_x0023_text><_>1</_></_x0023_text></r>"
    )
    assert xml({"r": {"@a": []}}) == "<r><_x0040_a/></r>"
    data, report = convert(b",a\n1,2\n3,4\n", "csv", "xml")
    assert b"<root><item><_>1</_><a>2</a></item><item><_>3</_>" in data
    assert {loss.rule for loss in report.carried} == {"names", "root"}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a:b": "x"}, "<a_x003A_b>x</a_x003A_b>"),
        ({"r": {"a:b": ["x", "y"]}}, "<r><a_x003A_b>x</a_x003A_b><a_x003A_b>y</a_x003A_b></r>"),
        ({"r": {"@a:b": "x"}}, '<r a_x003A_b="x"/>'),
        ({"r": {"a:": "x"}}, "<r><a_x003A_>x</a_x003A_></r>"),
        ({"r": {"@xmlns:a": 5}}, '<r xmlns_x003A_a="5"/>'),
        ({"r": {"a b:c": "x"}}, "<r><a_x0020_b_x003A_c>x</a_x0020_b_x003A_c></r>"),
        ({"r": {"_x003A_:": "x"}}, "<r><_x005F_x003A__x003A_>x</_x005F_x003A__x003A_></r>"),
        ({"r": {"@xmlns:a": "u", "a:b:c": "x"}}, None),
        ({"a:r": {"@xmlns:a": "u", "@a:b": "x", "a:c": {"a:d": "y"}}}, ""),
        ({"@xmlns:a": "u", "a:b": "x"}, '<root xmlns:a="u"><a:b>x</a:b></root>'),
        ({"r": {"a:b": [{"@xmlns:a": "u"}, {"@xmlns:a": "v"}]}}, ""),
        ({"r": {"a:b": [{"@xmlns:a": "u"}, "x"]}}, None),
        ({"r": {"b": {"@xmlns:a": "u"}, "a:c": "x"}}, None),
        ({"r": {"#content": ["x", {"a:b": {"a:c": "y"}}, "z"], "@xmlns:a": "u"}}, ""),
        ({"r": {"#content": ["x", {"a:b": "y"}, "z"]}}, "<r>x<a_x003A_b>y</a_x003A_b>z</r>"),
        ({"r": {"@xml:lang": "de", "xmlns:a": "x"}}, None),
    ],
    ids=str,
)
def test_a_prefix_is_one_where_it_is_declared(value: Any, text: str | None) -> None:
    """Who reads namespaces refused the file: JSON-LD and the like have colons in their keys."""
    data, report = convert(json.dumps(value).encode(), "json", "xml")
    ElementTree.fromstring(data)
    written = data.decode().split("\n")[1]
    assert text in (written, None, "")
    assert ("_x003A_" in written) == (text != "" and "<root" not in written)
    names = [loss for loss in report.carried if loss.rule == "names"]
    assert len(names) == ("_x003A_" in written)


def test_a_list_of_one_under_the_only_key_is_no_root() -> None:
    """However many there are, what stands around them is the same."""
    assert xml({"a": ["x"]}) == "<root><a>x</a></root>"
    assert xml({"a": ["x", "y"]}) == "<root><a>x</a><a>y</a></root>"


@pytest.mark.parametrize("path", ["root.item", "root.item.a"])
def test_elements_at_a_path_are_a_list_however_many(path: str) -> None:
    """One element is a map, or a text, for who does not know that there may be more."""
    for count in (1, 2):
        text = f"<root><item>{'<a>x</a>' * count}</item></root>"
        data, _ = convert(text.encode(), "xml", "json", shaping=Shaping(at=path))
        items = [{"a": ["x"] * count if count > 1 else "x"}]
        assert json.loads(data) == (items if path == "root.item" else ["x"] * count)


def test_a_map_at_a_path_is_one_document() -> None:
    data, _ = convert(b'{"a": {"b": 1, "c": [2]}}', "json", "yaml", shaping=Shaping(at="a"))
    assert data == b"b: 1\nc:\n- 2\n"
    two = b'[{"b": 1}, 2]'
    data, _ = convert(two, "json", "json", shaping=Shaping(at="0"), lossy=["around"])
    assert json.loads(data) == {"b": 1}
    error = refused('{"a": 1}', "json", "json", shaping=Shaping(at="a"))
    assert '(at="a"): $.a is 1, no list and no map' in str(error)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"r": {"#content": ["x"]}}, "<r>x</r>"),
        ({"r": {"#content": []}}, "<r/>"),
        ({"#content": ["x", "y"]}, "<root>xy</root>"),
        ({"#text": "x"}, "<root>x</root>"),
        ({"@a": "1"}, '<root a="1"/>'),
        ({"r": {"@a": "1", "#content": ["x", {"b": "c"}]}}, '<r a="1">x<b>c</b></r>'),
        ({"r": {"#content": ["x", {"b": "c"}, "y"], "k": "v"}}, "<r>x<b>c</b>y<k>v</k></r>"),
        ({"r": {"#content": ["", {"b": None}, "y", {"b": 1}]}}, "<r><b/>y<b>1</b></r>"),
    ],
)
def test_content_that_need_not_be_a_list_is_carried(value: Any, text: str) -> None:
    """It was refused, as an element of text became text."""
    written, report = convert(json.dumps(value).encode(), "json", "xml")
    assert written.decode().partition("?>\n")[2].strip() == text
    assert {loss.rule for loss in report.carried} <= {"elements", "root"}
    assert report.carried
    ElementTree.fromstring(written)
    again, _ = convert(written, "xml", "json")
    assert convert(again, "json", "xml")[0] == written


@pytest.mark.parametrize("verify", [True, False])
@pytest.mark.parametrize(
    "inside",
    [
        {"#content": ["x", {"b": "y"}, " "]},
        {"#content": ["\t", {"b": "y"}]},
        {"#content": [{"b": "y"}, " ", {"b": "y"}]},
        {"#content": ["x", {"b": "y"}, "\n"], "c": "z"},
        {"#text": " ", "b": "y"},
        {"b": ["y", "y"], "@k": "1", "#text": "  "},
    ],
    ids=str,
)
def test_white_space_that_is_read_as_none_is_refused(inside: Any, verify: bool) -> None:
    """Without the proof it was written, and gone; what says that it means something keeps it."""
    error = refused(json.dumps({"a": {"b": inside}}), "json", "xml", verify=verify)
    assert 'white space beside elements, which is read as none; to="typed-xml"' in str(error)
    for value in (
        {"a": {"@xml:space": "preserve", **inside}},
        {"a": {"@xml:space": "preserve", "b": {"c": inside}}},
    ):
        back = values(xml(value, verify=verify))
        assert xml(back) == xml(value)
    value = {"a": {"@xml:space": "preserve", "b": {"@xml:space": "default", **inside}}}
    assert refused(json.dumps(value), "json", "xml", verify=verify).exit_code == 4


@pytest.mark.parametrize("verify", [True, False])
def test_numbers_keep_the_text_that_they_have(verify: bool) -> None:
    """Digits beyond a double were refused, and 1.10 became 1.1: elements have text alone."""
    numbers = "12345678901234567890.12345", "1.10", "1e400", "-0", "1E5", "2.0"
    data = f'{{"r":{{"@a":{numbers[0]},"b":[{",".join(numbers)}]}}}}'
    written, report = convert(data.encode(), "json", "xml", verify=verify)
    assert values(written.decode()) == {"r": {"@a": numbers[0], "b": [*numbers]}}
    assert [loss[:2] for loss in report.carried] == [("elements", 7)]
