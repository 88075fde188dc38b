"""What libyaml reads otherwise than YAML's specification: refused, and nothing else is."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

import serialpack
from serialpack.errors import RefusedError, SerialpackError
from serialpack.formats.shared.document import Malformed
from serialpack.formats.yaml.misread import Misread, MisreadWatch
from serialpack.formats.yaml.read import read
from tests.cli.conftest import Run
from tests.cli.conftest import run as run
from tests.formats.test_yaml import parser as parser
from tests.formats.work import bearable

#: Valid text that the parsers read as something else: its line, a word of what is said.
MISREAD = [
    ("key: &an:chor value", 1, "anchor"),
    ("a: 1\nkey: &a?: value", 2, "anchor"),
    ("- &a 1\n- *a:", 2, "anchor"),
    ("- !!str &a:b x", 1, "anchor"),
    ("[&a:b c]", 1, "anchor"),
    ("[?x]", 1, "question mark"),
    ("{ ?foo: bar }", 1, "question mark"),
    ("a:\n- [1,\n  ?x: 2]", 3, "question mark"),
    ("[?\"x\"]", 1, "question mark"),
    ("{a, ?[b]: c}", 1, "question mark"),
    ("foo: |\n  x\n   ", 3, "last line"),
    ("foo: >\n  x\n    ", 3, "last line"),
    ("- |+\n   ", 2, "last line"),
    ("- >+\n  x\n  ", 3, "last line"),
    ("a: |\n  x\n  \t", 3, "last line"),
    ("a: >\n  \n    \n   # x\n", 4, "comment"),
    ("|\n# x\n", 2, "comment"),
    ("- |-\n    \n  # x\n", 3, "comment"),
    ("a: x\u2028y", 1, "U+2028"),
    ("a: 1\nb: \"x\u0085y\"", 2, "U+0085"),
    ("a: 1 # c\u2029b: 2", 1, "U+2029"),
    ("a: 1\r\n\ufeffb: 2", 2, "U+FEFF"),
]  # fmt: skip
#: What is an error by the specification, and none to the parsers.
INVALID = [
    ("--- 'x'\n%YAML 1.2\n---\ny", None),
    ("k: v\n%TAG ! tag:a,2000:\n---\nx", None),
    ("%YAML 1.2\n---\n%YAML 1.2\n---\n", None),
    ("%YAML 1.1#x\n---\n", None),
    ('k: "v"# x', 6),
    ("k: 'v'# x", 6),
    ("[a]# x", 3),
    ("[ a,# x\n b]", 4),
    ("k: ># x\n  y", 4),
    ("- [-, -]", 3),
    ("[-]", 1),
    ("{-: 1, a: [-]}", None),
    ("- &a, b", 4),
]
#: Text that looks like one of the above, and what it is.
FINE: list[tuple[str, Any]] = [
    ("- &a-b_1 x\n- *a-b_1\n", ["x", "x"]),
    ("[&a x, *a]", ["x", "x"]),
    ("[*a]", None),
    ("{&a x: *a, &b y: [*b]}", {"x": "x", "y": ["y"]}),
    ("- &a\n  x\n- &b\t1", ["x", 1]),
    ("a: x&y:z", {"a": "x&y:z"}),
    ("a: 'x &y:z'\nb: \"*a:\"", {"a": "x &y:z", "b": "*a:"}),
    ("- ?x\n- a?b\n- http://a.b/?c=d#e", ["?x", "a?b", "http://a.b/?c=d#e"]),
    ("?x: y\n", {"?x": "y"}),
    ("[x?, a ?b, 'x?', \"?\"]", ["x?", "a ?b", "x?", "?"]),
    ("{a?, b?: c, ? d : e, ? f}", {"a?": None, "b?": "c", "d": "e", "f": None}),
    ("{http://a?b: [c?]}", {"http://a?b": ["c?"]}),
    ("a: |\n  x\n  ", {"a": "x\n"}),
    ("a: |\n  x\n ", {"a": "x\n"}),
    ("a: |-\n  x\n  ", {"a": "x"}),
    ("a: |+\n  x\n   \n", {"a": "x\n \n"}),
    ("a: |\n  x\nb: 1\n  ", {"a": "x\n", "b": 1}),
    ("a: x\n  ", {"a": "x"}),
    ("a: |\n  x", {"a": "x"}),
    ("a: |\n# c\nb: 1", {"a": "", "b": 1}),
    ("a:\n  b: |\n  # c\n  d: 1", {"a": {"b": "", "d": 1}}),
    ("a: |\n  # x\n", {"a": "# x\n"}),
    ("a: |2\n    \n # c\n", {"a": "  \n"}),
    ("a: |# \n", None),
    ("a: b#c\nd: 'e#f' # g\n#h\ni: [1, #j\n 2] #k\n", {"a": "b#c", "d": "e#f", "i": [1, 2]}),
    ("a: &x #c\n  b\n", {"a": "b"}),
    ("a: | # c\n  x#y\n  #z\n", {"a": "x#y\n#z\n"}),
    ("- # c\n  a\n-  # d\n  b\n", ["a", "b"]),
    ("? # c\n  a\n: # d\n  b\n", {"a": "b"}),
    ("--- # c\na\n... # d\n", "a"),
    ("[-1, -a, - b]", None),
    ("- -\n- a-", [[None], "a-"]),
    ("%YAML 1.2\n# c\n---\na", "a"),
    ("a\n%YAML 1.2\n", "a %YAML 1.2"),
    ("key: [\n  a,\n]\nb: {\n}", {"key": ["a"], "b": {}}),
    ("a: \"x\\Ny\\L\"", {"a": "x\x85y\u2028"}),
    ("\ufeffa: x\ufeff", {"a": "x\ufeff"}),
    ("a: 1\rb: 2\r\n", {"a": 1, "b": 2}),
]  # fmt: skip


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(("text", "line", "word"), MISREAD)
def test_what_would_be_misread_is_refused(text: str, line: int, word: str) -> None:
    for before, more in ((b"", 0), (b"first: 1\n---\n", 2)):
        if before and text.startswith("|"):
            continue  # where else it would stand in a document that has begun
        with pytest.raises(RefusedError) as caught:
            read(before + text.encode())
        message = str(caught.value)
        assert re.match(rf"line {line + more}: ", message), message
        assert word in message
        assert "pack -s raw" in (caught.value.hint or "")
        assert "\n" not in message


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(("text", "at"), INVALID)
def test_what_is_invalid_is_an_error(text: str, at: int | None) -> None:
    with pytest.raises((Malformed, SerialpackError)) as caught:
        read(text.encode())
    if at is not None and isinstance(caught.value, Malformed):
        assert caught.value.at == at


@pytest.mark.parametrize(("text", "value"), FINE)
def test_what_only_looks_like_it_is_read(parser: Any, text: str, value: Any) -> None:
    if value is None:  # an error that others name
        with pytest.raises(Malformed):
            read(text.encode())
        return
    try:
        assert read(text.encode()) == [value]
    except Malformed:  # PyYAML's own parser takes less
        assert parser is yaml.SafeLoader


def test_other_line_ends_are_those_of_yaml_1_1() -> None:
    assert read("a: x\u2028b: y".encode(), core=False) == [{"a": "x", "b": "y"}]
    assert read("%YAML 1.1\n---\na: x\u0085b: y".encode()) == [{"a": "x", "b": "y"}]


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("key: &an:chor value\n", "key: &anchor value\n"),
        ("{ ?foo: bar }\n", "{ '?foo': bar }\n"),
        ("foo: |\n  x\n   ", "foo: |\n  x\n   \n"),
        ("a: x\u2028y\n", 'a: "x\\u2028y"\n'),
    ],
)
def test_the_line_says_where_and_how_to_get_on(
    run: Run, tmp_path: Path, text: str, advice: str
) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(text)
    done = run("unpack", "--to", "json", path, code=4)
    assert done.stderr.count(b"\n") == 1
    assert b"a.yaml: line " in done.stderr
    assert not (tmp_path / "a.json").exists()
    run("pack", "-s", "raw", path)
    path.write_text(advice)
    run("unpack", "--to", "json", path)
    assert list(json.loads((tmp_path / "a.json").read_text())) in (
        ["key"],
        ["?foo"],
        ["foo"],
        ["a"],
    )


def test_each_event_is_looked_at_in_passing() -> None:
    """Text that has a mark of each kind, many times: no event looks over what others have."""
    text = "- {a: 'x?' } # c\n- &a |+\n   \n- *a\n" * 2000
    seen = 0

    class Text(str):
        def __getitem__(self, key: Any) -> str:
            nonlocal seen
            found = super().__getitem__(key)
            seen += len(found)
            return found

    watch = MisreadWatch(Text(text))
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        watch.look(event)
    assert 0 < seen < len(text)


def test_documents_are_not_looked_through_for_each_of_them() -> None:
    """Each of a table's rows is one: they took a minute where a single letter is not ASCII."""
    with bearable(5):
        assert (
            read(("---\na: 1\n" * 2000 + "# " + "\u00e9" * 500_000).encode()) == [{"a": 1}] * 2000
        )


#: What the suite calls an error, and is read: it has one sense, and files like these are many.
INDENTED = {"9C9N", "DK95/01", "QB6E", "Y79Y/03"}


def events(text: str) -> list[str]:
    """As the suite's test.event has them, without styles and what is explicit."""
    found = []
    event: Any
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        kind = type(event).__name__.removesuffix("Event")
        anchor = getattr(event, "anchor", None)
        tag = getattr(event, "tag", None)
        extra = (f" &{anchor}" if anchor else "") + (f" <{tag}>" if tag else "")
        if kind == "Alias":
            found.append(f"=ALI *{anchor}")
        elif kind == "Scalar":
            for was, became in (("\\", "\\\\"), ("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r")):
                event.value = event.value.replace(was, became)
            style = event.style or ":"
            found.append(f"=VAL{extra} {style}{event.value}".replace("\b", "\\b"))
        else:
            name = re.sub("(Start|End)$", "", kind)
            sign = "+" if kind.endswith("Start") else "-"
            short = {"Stream": "STR", "Document": "DOC", "Mapping": "MAP", "Sequence": "SEQ"}
            found.append(sign + short[name] + (extra if sign == "+" else ""))
    return found


def test_no_case_of_the_suite_is_misread(shared_data: Path) -> None:
    """Each is read to the very events that it expects, or not read."""
    if not hasattr(yaml, "CSafeLoader"):
        pytest.skip("PyYAML was built without libyaml")
    root = shared_data / "conformance" / "yaml-test-suite"
    read_as, taken = 0, set()
    for path in sorted(root.rglob("in.yaml")):
        name = path.parent.relative_to(root).as_posix()
        text = path.read_bytes().decode()
        try:
            found = events(text)
            watch = MisreadWatch(text)
            watch.check_lines()
            for event in yaml.parse(text, Loader=yaml.CSafeLoader):
                watch.look(event)
        except (yaml.YAMLError, Misread, Malformed):
            continue
        if path.with_name("error").exists():
            taken.add(name)
            continue
        lines = path.with_name("test.event").read_text().splitlines()
        wanted = [
            re.sub(r"^([-+]DOC) .*|^(\+(?:MAP|SEQ)) (?:\{\}|\[\])", r"\1\2", x) for x in lines
        ]
        assert found == [line.rstrip() if line[0] in "+-" else line for line in wanted], name
        read_as += 1
    assert taken <= INDENTED
    assert read_as > 100


def test_real_files_are_read(shared_data: Path) -> None:
    paths = [*(shared_data / "yaml-real").rglob("*.y*ml")]
    assert paths
    for path in paths:
        out = io.BytesIO()
        serialpack.convert(path, out, to="pickle", lossy=["comments"])
        assert out.tell()
