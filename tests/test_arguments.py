"""What errors say in Python: arguments in place of options, of which each is one that there is."""

from __future__ import annotations

import ast
import inspect
import io
import json
import os
import pickle
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import click
import msgpack
import pytest

import serialpack
from serialpack.arguments import ARGUMENTS, in_arguments
from serialpack.cli.verbs.pack import command as pack
from serialpack.cli.verbs.unpack import command as unpack
from serialpack.formats.losses.utf8 import ENCODING_HINT

PACKAGE = Path(serialpack.__file__).parent
#: Options that only the command line meets: it alone asks for the work that refuses them.
_ITS_OWN = {"--duplicates", "--files-from", "--gitignore", "--head", "--key", "-r"}
_OPTION = re.compile(r"(?<![^\s(])--?[a-zA-Z][\w-]*")


def messages() -> Iterator[str]:
    """The texts in the library that name an option of ``pack`` or ``unpack``."""
    names = {name for verb in (pack, unpack) for option in verb.params for name in option.opts}
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.relative_to(PACKAGE).parts[0] in ("arguments.py", "bench", "cli"):
            continue
        nodes = list(ast.walk(ast.parse(path.read_text())))
        docs = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        parts = {id(e) for n in nodes if isinstance(n, ast.JoinedStr) for e in n.values}
        for node in nodes:
            text = ""
            if isinstance(node, ast.JoinedStr):
                # A value stands for each that is put in.
                text = "".join(str(getattr(each, "value", "x")) for each in node.values)
                text = re.sub(r"<ast[^>]*>", "x", text)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = "" if id(node) in docs | parts else node.value
            if " " in text and names & {*_OPTION.findall(text)}:
                yield text


#: What stays a command, with the options of a program.
_COMMANDS = r"\bserialpack \w+ [^;]*|\b(?:jq|python3) -c\b"


def test_no_message_names_an_option_in_python() -> None:
    found = [*messages()]
    assert len(found) > 80
    for text in found:
        told = re.sub(_COMMANDS, "", in_arguments(text))
        assert not {*_OPTION.findall(told)} & {*ARGUMENTS}, text
        assert {*_OPTION.findall(told)} <= _ITS_OWN | {"-v"} or re.match(
            "xmllint|pip|nccopy", text
        ), text


def test_each_argument_is_one_and_each_option_too() -> None:
    functions = (serialpack.pack, serialpack.unpack, serialpack.convert, serialpack.unpack_archive)
    known = {name for function in functions for name in inspect.signature(function).parameters}
    known |= {f"shaping.{name}" for name in serialpack.Shaping._fields}
    known |= {"options[schema]", "options[message]"}
    options = [option for verb in (pack, unpack) for option in verb.params]
    flags = {
        name
        for option in options
        if isinstance(option, click.Option) and option.is_flag
        for name in (*option.opts, *option.secondary_opts)
    }
    for option, (argument, spell) in ARGUMENTS.items():
        assert argument in known, option
        assert any(option in each.opts for each in options), option
        assert (option in flags) == isinstance(spell, str), option


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("--lossy bytes,keys lets it go", 'lossy=["bytes", "keys"] lets it go'),
        ("--tagged, --to a, b or c can", 'tagged=True, to="a", "b" or "c" can'),
        ("without --strict it is carried", "without strict=True it is carried"),
        ("--typed --null null", 'shaping=Shaping(typed=True, null="null")'),
        ("--types a=integer,b=date", 'shaping=Shaping(types=[("a", "integer"), ("b", "date")])'),
        ("--types '\"c,d=text\"' leaves it", 'shaping=Shaping(types=[("c,d", "text")]) leaves it'),
        (
            """--types 'a'"'"'s b=text' leaves it""",
            'shaping=Shaping(types=[("a\'s b", "text")]) leaves it',
        ),
        ("--types 'a b=text' leaves it", 'shaping=Shaping(types=[("a b", "text")]) leaves it'),
        ("--separator '->' keeps it apart", 'shaping=Shaping(separator="->") keeps it apart'),
        ("--separator . keeps it apart", 'shaping=Shaping(separator=".") keeps it apart'),
        ("--at 'a b': there is none", 'shaping=Shaping(at="a b"): there is none'),
        ('--nest "a, b"', 'shaping=Shaping(nest=("a, b",))'),
        ("--no-verify", "verify=False"),
        (
            ENCODING_HINT,
            "pack and conversions take encoding, which says what it is, such as cp1252",
        ),
        ("more than --max-size 1.5 KiB", "more than max_size 1.5 KiB"),
        ("(unpack --bytes 1:9)", "(unpack(..., byte_range=(1, 9)))"),
        ("pack -s raw keeps the bytes", 'pack(..., serializer="raw") keeps the bytes'),
        ("unpack --trust gives it back", "trust=True gives it back"),
        ("unpack -o FOLDER gives them", 'unpack_archive(..., "FOLDER") gives them'),
        ("unpack --at N -o N.npy", 'convert(..., shaping=Shaping(at="N"), to="npy")'),
        ("inspect --head 3 shows records", "serialpack inspect --head 3 shows records"),
        ("serialpack unpack --salvage a.spk gives", "serialpack unpack --salvage a.spk gives"),
        ("there is no key '--to json'", "there is no key '--to json'"),
        ("a - b, --unknown, -1 and -wal", "a - b, --unknown, -1 and -wal"),
    ],
)  # fmt: skip
def test_options_become_arguments(said: str, told: str) -> None:
    assert in_arguments(said) == told


def test_the_command_line_keeps_its_options(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Also in what it tells of records that were left out, which Python hears in the report."""
    from serialpack.cli.app import run

    source = tmp_path / "a.msgpack"
    source.write_bytes(msgpack.packb({"a": b"x"}))
    args = ["unpack", "--to", "json", "--strict", str(source), "-o", str(tmp_path / "a.json")]
    assert run(args) == 4
    assert "--lossy bytes lets it go" in capfd.readouterr().err
    (tmp_path / "a.json").touch()
    assert run(args) == 1
    assert "exists already; -f overwrites it" in capfd.readouterr().err


_DATED = msgpack.packb({"b": b"x", "t": msgpack.Timestamp(5)})


@pytest.mark.parametrize(
    ("data", "how"),
    [
        (_DATED, {"to": "json", "format": "msgpack", "strict": True}),
        (b'{"a":1,"a":2}', {"to": "cbor"}),
        (b"[0.1000000000000000000001]", {"to": "msgpack"}),
        (
            b'[{"a.b":1,"c":{"d":2}}]',
            {"to": "csv", "shaping": serialpack.Shaping(separator=".")},
        ),
        (b'{"rows":[{"a":1}],"n":1}', {"to": "csv", "shaping": serialpack.Shaping(at="rows")}),
    ],
)
def test_what_an_error_advises_is_typed_and_does_it(data: bytes, how: dict[str, Any]) -> None:
    """Each argument of the hint in turn, as Python reads it."""
    with pytest.raises(serialpack.ValueRefusedError) as refused:
        serialpack.convert(io.BytesIO(data), io.BytesIO(), **how)
    said = in_arguments(refused.value.hint or "")
    ways = re.findall(r'lossy=\[[^]]*\]|tagged=True|shaping=Shaping\([^)]*\)|to="\w+"', said)
    assert ways, said
    for way in ways:
        more = eval(f"dict({way})", {"Shaping": serialpack.Shaping})
        out = io.BytesIO()
        serialpack.convert(io.BytesIO(data), out, **{**how, **more})
        assert out.getvalue(), way


def test_of_an_archive_the_notes_too(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps([{"a": 1}]))
    source = {"a.json": tmp_path / "a.json"}
    serialpack.pack_archive(source, tmp_path / "all.spk")
    serialpack.unpack_archive(tmp_path / "all.spk", tmp_path / "out")
    with pytest.raises(serialpack.ArchiveError) as failed:
        serialpack.unpack_archive(tmp_path / "all.spk", tmp_path / "out")
    assert failed.value.__notes__ == ["a.json: exists already; force=True overwrites it"]


@pytest.mark.parametrize("wrong", [None, 5, b"x\0", ["json"]])
def test_an_argument_of_another_type_is_one_type_error(wrong: Any) -> None:
    """They were errors of attributes, from deep within."""
    kind = type(wrong).__name__
    with pytest.raises(TypeError, match=f"chain must be text such as .*, not {kind}"):
        serialpack.dumps(1, wrong)
    if wrong is not None:
        with pytest.raises(TypeError, match=f"to must be text or None, not .*{kind}"):
            serialpack.convert(io.BytesIO(b"{}"), io.BytesIO(), to=wrong)
        with pytest.raises(TypeError, match=f"target must be a path or a .*, not {kind}"):
            serialpack.dump(1, wrong)


def test_what_is_no_buffer_range_or_mapping_is_said_so(tmp_path: Path) -> None:
    """``loads`` of a path, a number for a range, and a list of files were errors from within."""
    no_range: Any = 5
    no_mapping: Any = ["a.json"]
    with pytest.raises(TypeError, match=r"^data must be bytes.*, not str; load reads files$"):
        serialpack.loads("a.spk")  # type: ignore[arg-type]
    for name in ("record_range", "byte_range"):
        for wrong in (no_range, (1,), "12", ("a", 2)):
            how: Any = {name: wrong}
            with pytest.raises(TypeError, match=rf"^{name} must be \(start, stop\) or None"):
                serialpack.unpack(tmp_path / "a.spk", None, **how)
    with pytest.raises(TypeError, match=r"^sources must be a mapping"):
        serialpack.pack_archive(no_mapping, tmp_path / "a.spk")
    data = serialpack.dumps([1])
    with pytest.raises(serialpack.UsageError, match=r"unknown compression 'gz'; known: gzip, zstd"):
        serialpack.unpack(io.BytesIO(data), io.BytesIO(), compression="gz")


def _dumped(**how: Any) -> None:
    serialpack.dump([1], io.BytesIO(), **how)


def _packed(**how: Any) -> None:
    serialpack.pack(io.BytesIO(b"{}"), io.BytesIO(), **how)


@pytest.mark.parametrize(
    ("function", "how"),
    [
        (_dumped, {"chain": "nope"}),
        (_dumped, {"chain": "msgpack+zstd:99"}),
        (_dumped, {"chain": "raw"}),
        (_dumped, {"effort": 10}),
        (_dumped, {"threads": 0}),
        (_dumped, {"options": {"x": 1}}),
        (_packed, {"serializer": "nope"}),
        (_packed, {"codec": "zstd:99"}),
        (_packed, {"effort": 0}),
        (_packed, {"format": "nope"}),
    ],
)
def test_a_value_that_an_argument_cannot_have_is_a_value_error(
    function: Any, how: dict[str, Any]
) -> None:
    """Who calls Python's own catches nothing else."""
    with pytest.raises(serialpack.UsageError) as wrong:
        function(**how)
    assert isinstance(wrong.value, ValueError)


def test_what_is_no_function_is_a_type_error() -> None:
    """It was called, or not, by what the object was: without a map nobody noticed."""
    data, three = serialpack.dumps([1]), cast("Any", 3)
    for call in (
        lambda: serialpack.dumps([1], object_hook=three),
        lambda: serialpack.dumps([1], default=three, object_hook=dict),
        lambda: serialpack.loads(data, object_hook=three),
        lambda: serialpack.load(io.BytesIO(data), object_hook=three),
    ):
        with pytest.raises(TypeError, match=r"(object_hook|default) must be a function or None"):
            call()


def test_a_schema_that_is_no_file_is_told_once() -> None:
    """It was said to be a schema that cannot be used, and why twice."""
    pytest.importorskip("fastavro")
    with pytest.raises(serialpack.UsageError, match=r"^a schema is given as the path of its file"):
        serialpack.dumps([1], "avro", options={"schema": 5})


def test_paths_may_be_bytes_wherever_there_are_any(tmp_path: Path) -> None:
    """Archives, stores and dictionaries took none, where ``pack`` did."""
    folder = os.fsencode(tmp_path)
    small = [folder + b"/%d.json" % n for n in range(100)]
    for n, path in enumerate(small):
        Path(os.fsdecode(path)).write_text(json.dumps({"id": n, "name": f"some name {n}"}))
    given = {b"a.json": small[0], "b.json": small[1]}
    serialpack.pack_archive(cast("Any", given), cast("Any", folder + b"/all.spk"))
    serialpack.unpack_archive(cast("Any", folder + b"/all.spk"), cast("Any", folder + b"/out"))
    assert (tmp_path / "out/b.json").read_bytes() == (tmp_path / "1.json").read_bytes()
    for sources in (small, (path for path in small)):
        serialpack.train_dictionary(cast("Any", sources), cast("Any", folder + b"/k.dict"))
        (tmp_path / "k.dict").unlink()
    with serialpack.store(cast("Any", b"sqlite-kv://" + folder + b"/s.db")) as store:
        store["a"] = 1
    assert (tmp_path / "s.db").exists()


@pytest.mark.parametrize(
    "call",
    [
        lambda path: serialpack.load(path),
        lambda path: serialpack.dump(1, path),
        lambda path: serialpack.pack(path, "x.spk"),
        lambda path: serialpack.inspect(Path(path)),
    ],
    ids=["load", "dump", "pack", "inspect"],
)
def test_a_path_with_a_nul_is_named(call: Callable[[str], Any]) -> None:
    """Python's "embedded null byte" named none."""
    with pytest.raises(serialpack.UsageError) as caught:
        call("a\0b")
    assert str(caught.value) == r"a\0b: no path has a NUL in it"


def test_a_pickle_is_said_to_be_one() -> None:
    with pytest.raises(serialpack.NotContainerError) as caught:
        serialpack.loads(pickle.dumps(1))
    assert str(caught.value.hint).startswith("pickle.loads(data)")
