"""XML documents as values, by the convention of xmltodict, and written again."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

import serialpack
from serialpack.conversion.tables.shaping import Shaping
from serialpack.depth import MAX_DEPTH
from serialpack.errors import RefusedError, SerialpackError, SyntaxInputError
from serialpack.formats import FORMATS
from serialpack.formats.xml import write as writing
from tests.formats.xml_documents import convert, refused, values, xml

FMT: Any = FORMATS.get("xml")


#: Documents, and what they are as values; written again they are the same text.
SAME: list[tuple[str, Any]] = [
    ("<a/>", {"a": None}),
    ("<a>x</a>", {"a": "x"}),
    ("<a> x\n</a>", {"a": " x\n"}),
    ("<a> </a>", {"a": " "}),
    ("<a>1</a>", {"a": "1"}),
    ('<a b="1"/>', {"a": {"@b": "1"}}),
    ('<a b=""/>', {"a": {"@b": ""}}),
    ('<a b="1">x</a>', {"a": {"@b": "1", "#text": "x"}}),
    ('<a b="1" c="2"><d/></a>', {"a": {"@b": "1", "@c": "2", "d": None}}),
    ("<a><b/><b>1</b><c/></a>", {"a": {"b": [None, "1"], "c": None}}),
    ("<a>x<b/></a>", {"a": {"#text": "x", "b": None}}),
    ("<a><b/>x</a>", {"a": {"b": None, "#text": "x"}}),
    ("<a><b/>x<c/></a>", {"a": {"b": None, "#text": "x", "c": None}}),
    ('<x:a xmlns:x="urn:x"><x:b/></x:a>', {"x:a": {"@xmlns:x": "urn:x", "x:b": None}}),
    ("<a>&lt;&amp;&gt;\"'</a>", {"a": "<&>\"'"}),
    ('<a b="&lt;&amp;&quot;\'&#9;&#10;&#13;"/>', {"a": {"@b": "<&\"'\t\n\r"}}),
    ("<a>a&#13;\tb</a>", {"a": "a\r\tb"}),
    ("<é>\U0001f600</é>", {"é": "\U0001f600"}),
    (
        '<a xml:space="preserve"> <b/></a>',
        {"a": {"@xml:space": "preserve", "#text": " ", "b": None}},
    ),
]


@pytest.mark.parametrize(("text", "value"), SAME, ids=[text for text, _ in SAME])
def test_a_document_is_the_same_again(text: str, value: Any) -> None:
    assert values(text, strict=True) == value
    assert list(values(text)[next(iter(value))] or ()) == list(next(iter(value.values())) or ())
    assert xml(value, strict=True) == text


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("<a></a>", "<a/>"),
        ("<a><![CDATA[<x>]]></a>", "<a>&lt;x&gt;</a>"),
        ("<a>&#65;&#x42;</a>", "<a>AB</a>"),
        ("<a  b = '1' ></a >", '<a b="1"/>'),
        ("<a>x\r\ny</a>", "<a>x\ny</a>"),
    ],
)
def test_another_spelling_is_the_same_document(text: str, same: str) -> None:
    assert xml(values(text, strict=True), strict=True) == same


def test_what_is_dropped_is_told() -> None:
    text = """<?xml version="1.0"?>
<!DOCTYPE a SYSTEM "a.dtd">
<!-- one --><a>
  <b>1</b> <!-- two -->
  <?pi x?><b> 2 </b>
</a>
"""
    data, report = convert(text.encode(), "xml", "json")
    assert json.loads(data) == {"a": {"b": ["1", " 2 "]}}
    found = {loss.rule: (loss.count, loss.value_path) for loss in report.carried}
    assert found == {"comments": (4, "line 2"), "space": (3, "line 4")}
    assert "no place for comments" in str(refused(text, "xml", "json", strict=True))
    error = refused("<a> <b/> </a>", "xml", "json", strict=True)
    assert "no place for white spaces between elements" in str(error)
    assert error.exit_code == 4


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("<a>x<b/>y</a>", {"a": {"#text": "xy", "b": None}}),
        ("<a><b/><c/><b/></a>", {"a": {"b": [None, None], "c": None}}),
        ("<a><b/>x<b/></a>", {"a": {"b": [None, None], "#text": "x"}}),
        (
            '<a xml:space="preserve"> <b/> </a>',
            {"a": {"@xml:space": "preserve", "#text": "  ", "b": None}},
        ),
    ],
)
def test_the_order_of_mixed_content_is_let_go_where_asked(text: str, value: Any) -> None:
    error = refused(text, "xml", "json", strict=True)
    assert isinstance(error, serialpack.ValueRefusedError)
    assert (error.kind, error.value_path) == ("order", "$.a")
    assert 'lossy=["order"]' in str(error)
    data, report = convert(text.encode(), "xml", "json", lossy=["order"])
    assert json.loads(data) == value
    assert [(loss.rule, loss.count) for loss in report.losses] == [("order", 1)]


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("<a>x<b/>y</a>", ["x", {"b": None}, "y"]),
        ("<a>x <b>1</b> <c>2</c>\n y</a>", ["x ", {"b": "1"}, " ", {"c": "2"}, "\n y"]),
        ("<a> <b/>x<b k='v'/> </a>", [" ", {"b": None}, "x", {"b": {"@k": "v"}}, " "]),
        ("<a> <b/> <c/> <b/> </a>", [{"b": None}, {"c": None}, {"b": None}]),
        (
            "<a><b>x<i/>y</b><c/><b/></a>",
            [{"b": {"#content": ["x", {"i": None}, "y"]}}, {"c": None}, {"b": None}],
        ),
        ('<a xml:space="preserve"> <b/> </a>', [" ", {"b": None}, " "]),
    ],
)
def test_what_alternates_is_the_list_of_an_elements_content(text: str, content: list[Any]) -> None:
    """It was refused: one document in ten has such an element."""
    data, report = convert(text.encode(), "xml", "json")
    found = json.loads(data)
    assert found["a"].pop("#content") == content
    assert {"content", "space"} >= {loss.rule for loss in report.carried} >= {"content"}
    back, _ = convert(data, "json", "xml")
    assert convert(back, "xml", "json")[0] == data
    for target in ("csv", "parquet", "yaml"):
        assert convert(text.encode(), "xml", target)


def test_what_does_not_alternate_stays_a_map_beside_what_does() -> None:
    text = "<r><p>a<b/>c</p><q k='1'><x>1</x><x>2</x></q><s>t</s><n/><w> </w></r>"
    assert values(text) == {
        "r": {
            "p": {"#content": ["a", {"b": None}, "c"]},
            "q": {"@k": "1", "x": ["1", "2"]},
            "s": "t",
            "n": None,
            "w": " ",
        }
    }


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("x", "'x' as #content; it is a list"),
        ([{"b": 1, "c": 2}], "there it is text, or a map of one element"),
        ([{"@b": "1"}], "there it is text, or a map of one element"),
        ([["x"]], "cannot hold list"),
    ],
)
def test_a_list_of_content_holds_texts_and_elements(content: Any, why: str) -> None:
    error = refused(json.dumps({"a": {"#content": content}}), "json", "xml")
    assert why in str(error)
    assert error.exit_code == 4


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": 1}, "<a>1</a>"),
        (
            {"r": {"a": [1], "t": True, "f": 1e300, "n": None}},
            "<r><a>1</a><t>true</t><f>1e+300</f><n/></r>",
        ),
        ({"r": {"e": "", "m": {}, "l": [""]}}, "<r><e/><m/><l/></r>"),
        ({"r": {"b": "x", "@a": 1}}, '<r a="1"><b>x</b></r>'),
        ({"r": {"#text": 5}}, "<r>5</r>"),
        ({"r": {"a": {"#text": ""}}}, "<r><a/></r>"),
    ],
)
def test_values_that_xml_has_not_are_carried(value: Any, text: str) -> None:
    assert xml(value) == text
    assert refused(json.dumps(value), "json", "xml", strict=True).exit_code == 4
    _, report = convert(json.dumps(value).encode(), "json", "xml")
    assert {loss.rule for loss in report.carried} - {"lists"} == {"elements"}


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"a": {"": 1, "_": 2}}, 'two keys of one name, _; to="typed-xml" holds it'),
        ({"a": {"b c": 1, "b_x0020_c": 2}}, "two keys of one name, b_x0020_c"),
        ({"a": {"@": 1}}, "no name of an element: '@'"),
        ({"a": "\x01"}, "text that XML cannot write"),
        ({"a": "\ud800"}, 'lossy=["utf8"]'),
    ],
    ids=str,
)
def test_what_xml_does_not_hold_says_what_to_do(value: Any, words: str) -> None:
    error = refused(json.dumps(value), "json", "xml")
    assert error.exit_code == 4
    assert words in str(error)


def test_lists_of_one_or_none_come_back_by_their_names() -> None:
    """An empty one was refused, and whoever allowed that loss had not even its name."""
    value: Any = {"a": {"b": [], "c": ["1"], "d": {"e": [[], 2.5]}, "f": [], "g": ["x", "y"]}}
    data, report = convert(json.dumps(value).encode(), "json", "xml")
    text = "<a><b/><c>1</c><d><e/><e>2.5</e></d><f/><g>x</g><g>y</g></a>"
    assert text in data.decode()
    assert [(loss.rule, loss.count) for loss in report.carried if loss.rule == "lists"] == [
        ("lists", 3)
    ]
    assert "an empty list" in str(refused('{"a": {"b": []}}', "json", "xml", strict=True))
    names = {"a.b": "list", "a.c": "list", "a.d.e": "number", "a.f": "list", "a.g": "list"}
    back = values(text, shaping=Shaping(types=(*names.items(), ("a.c", "integer"))))
    value["a"] |= {"c": [1], "d": {"e": [None, 2.5]}}
    assert back == value


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
        '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
        '<!DOCTYPE a [<!ENTITY % b SYSTEM "http://localhost/">%b;]><a/>',
        '<!DOCTYPE a [<!ATTLIST a b CDATA "1">]><a/>',
        '<!DOCTYPE a SYSTEM "a.dtd"><a>&nbsp;</a>',
        '<!DOCTYPE a PUBLIC "p" "a.dtd"><a b="&nbsp;"/>',
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_are_refused(text: str, encoding: str) -> None:
    error = refused(text.encode(encoding), "xml", "json")
    assert isinstance(error, RefusedError)
    assert "is not read" in str(error)
    assert "root:" not in str(error)


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("", 1, 1, "there is nothing in it"),
        ("<a>", 1, 4, "ends too early"),
        ("<a>\n<b></a>", 2, 6, "mismatched tag"),
        ("<a/><b/>", 1, 5, "junk after document element"),
        ("<a>&nbsp;</a>", 1, 4, "undefined entity"),
        ("<a b='1' b='2'/>", 1, 10, "duplicate attribute"),
        ("<a>\x01</a>", 1, 4, "not well-formed"),
    ],
)
def test_what_is_no_xml_is_refused_with_its_place(
    text: str, line: int, column: int, words: str
) -> None:
    error = refused(text, "xml", "json")
    assert isinstance(error, SyntaxInputError)
    assert (error.line, error.column) == (line, column)
    assert words in error.message


def test_encodings_are_those_that_are_declared() -> None:
    for encoding in ("iso-8859-1", "utf-16", "windows-1252", "utf-8"):
        text = f"<?xml version='1.0' encoding='{encoding}'?><a>é</a>"
        data, _ = convert(text.encode(encoding), "xml", "json")
        assert json.loads(data) == {"a": "é"}
    for encoding in ("big5", "GB2312", "gbk", "GB18030", "EUC-JP", "shift_jis", "Big5-HKSCS"):
        text = f"<?xml version='1.0' encoding='{encoding}'?>\n"
        text += "<a b='\u6587'>\u6587\n\u5b57<c/>\u4e2d</a>"
        data, _ = convert(text.encode(encoding), "xml", "json")
        assert json.loads(data) == {
            "a": {"@b": "\u6587", "#content": ["\u6587\n\u5b57", {"c": None}, "\u4e2d"]}
        }
        torn = str(refused(text.replace("</a>", "</d>").encode(encoding), "xml", "json"))
        assert "line 3" in torn
        assert "mismatched tag" in torn
        assert f"byte {len(text.encode(encoding)) - 2}" in torn
    bad = b"<?xml version='1.0' encoding='gbk'?>\n<a>\xff</a>"
    assert "line 2, column 4" in str(refused(bad, "xml", "json"))
    assert "no_such" in str(refused("<?xml version='1.0' encoding='no_such'?><a/>", "xml", "json"))


def test_depth() -> None:
    deep = "<a>" * MAX_DEPTH + "</a>" * MAX_DEPTH
    assert xml(values(deep)) == deep.replace("<a></a>", "<a/>")
    error = refused(f"<b>{deep}</b>", "xml", "json")
    assert isinstance(error, RefusedError)


def test_real_documents(shared_data: Path) -> None:
    """What comes back is the same tree, but for white space between elements."""
    paths = sorted((shared_data / "xml").iterdir())
    assert paths
    for path in paths:
        values = convert(path.read_bytes(), "xml", "json")[0]
        assert tree(convert(values, "json", "xml")[0]) == tree(path.read_bytes())


def tree(data: bytes) -> Any:
    """A document by the standard library, as tuples; names with their prefixes' meanings."""

    def of(element: ElementTree.Element) -> Any:
        parts = [of(each) for each in element]
        text = element.text if not parts or (element.text or "").strip() else None
        return element.tag, element.attrib, text, parts

    return of(ElementTree.fromstring(data))


names = st.sampled_from(["a", "b", "x:c", "é"])
texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=4)
elements = st.recursive(
    st.none() | texts.filter(bool),
    lambda inner: st.dictionaries(
        names, inner | st.lists(inner, min_size=2, max_size=3), min_size=1, max_size=3
    ),
    max_leaves=8,
)


@given(root=elements, attribute=texts)
def test_every_document_comes_back(root: Any, attribute: str) -> None:
    document = {"r": {"@xmlns:x": "u", "@x:a": attribute, "v": root}}
    try:
        text = xml(document, strict=True)
    except serialpack.ValueRefusedError as error:
        assert "cannot write" in str(error) or error.kind in ("control", "text")  # noqa: PT017
        return
    assert values(text, strict=True) == document


pieces = st.one_of(
    st.sampled_from(
        ["<a>", "</a>", "<b/>", " ", "x", "<!--c-->", "<?p?>", "<![CDATA[x]]>", "&lt;"]
    ),
    texts,
)


@given(text=st.lists(pieces, max_size=8).map("".join))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        grouped = values(f"<a>{text}</a>", lossy=["order"])
        value = values(f"<a>{text}</a>")
    except SerialpackError as error:
        assert error.exit_code in (3, 4)  # noqa: PT017
        return
    assert values(xml(grouped)) == grouped
    assert values(xml(value)) == value


def test_a_name_that_comes_again_is_not_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[Any] = []
    is_name = writing.is_xml_name

    def look(name: Any) -> bool:
        looked.append(name)
        return is_name(name)

    monkeypatch.setattr(writing, "is_xml_name", look)
    document = {"a": {"row": [{"b": "x", "c": None}] * 100}}
    assert FMT.read(FMT.write([document])) == [document]
    assert sorted(looked) == ["a", "b", "c", "row"]


def test_nothing_is_collected_while_a_whole_file_is_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A file of one piece has all values there at once, and the collector looked at all again."""
    was_on: list[bool] = []
    kind, write = type(FMT), type(FMT).write

    def watched(self: Any, records: list[Any]) -> bytes:
        was_on.append(gc.isenabled())
        made: bytes = write(self, records)
        return made

    monkeypatch.setattr(kind, "write", watched)
    assert xml([{"a": "x"}, {"a": "y"}])
    assert was_on
    assert not any(was_on)
    assert gc.isenabled()
