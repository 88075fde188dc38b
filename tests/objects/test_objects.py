"""dump, load, dumps, loads: any object under any serializer, proved, refused or trusted."""

from __future__ import annotations

import errno
import io
import json
import shutil
import subprocess
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import numpy
import pytest

import serialpack
from serialpack.errors import (
    DamagedError,
    FileError,
    NotContainerError,
    RefusedError,
    UsageError,
    ValueRefusedError,
)
from tests.fidelity import things

OBJECT: dict[str, Any] = {"id": 7, "tags": ["a", "é"], "at": {"lat": -1.5, "ok": True, "no": None}}


def test_a_file_and_back(tmp_path: Path) -> None:
    path = tmp_path / "object.spk"
    serialpack.dump(OBJECT, path)
    assert serialpack.load(path) == OBJECT
    with path.open("rb") as file:
        assert serialpack.load(file) == OBJECT
    with pytest.raises(FileError):
        serialpack.dump(OBJECT, path)
    serialpack.dump([OBJECT], path, force=True)
    assert serialpack.load(path) == [OBJECT]


def test_a_file_object_and_back() -> None:
    file = io.BytesIO()
    serialpack.dump(OBJECT, file, "json")
    file.seek(0)
    assert serialpack.load(file) == OBJECT


def test_they_serve_wherever_a_pair_of_dump_and_load_is_asked_for() -> None:
    def through(module: Any, obj: Any) -> Any:
        return module.loads(module.dumps(obj))

    assert through(serialpack, OBJECT) == through(json, OBJECT)


@pytest.mark.parametrize("chain", ["json", "msgpack+none", "ujson+zstd:19", "json+shuffle:2+xz:1"])
@pytest.mark.parametrize("size", [0, 10, 3_000_000])
def test_chains_and_sizes(chain: str, size: int) -> None:
    obj = {"text": "x" * size, "list": list(range(size // 10))}
    data = serialpack.dumps(obj, chain, effort=1)
    assert serialpack.loads(data) == obj
    assert serialpack.loads(bytearray(data)) == obj
    member = serialpack.inspect(io.BytesIO(data)).members[0]
    assert str(member.chain).startswith(chain.partition("+")[0])
    assert (member.format, member.records, member.exact) == ("object", 1, True)


def test_many_blocks_are_one_record() -> None:
    data = serialpack.dumps(["0123456789" * 100] * 20_000, "json+zlib:1")
    member = serialpack.inspect(io.BytesIO(data)).members[0]
    assert len(member.blocks) > 1
    assert [b.continued for b in member.blocks] == [False] + [True] * (len(member.blocks) - 1)
    assert member.records == 1


def test_unpack_gives_what_the_serializer_wrote() -> None:
    out = io.BytesIO()
    serialpack.unpack(io.BytesIO(serialpack.dumps(OBJECT, "json")), out)
    assert json.loads(out.getvalue()) == OBJECT


@pytest.mark.peers
def test_zstd_reads_a_dumped_object(tmp_path: Path) -> None:
    zstd = shutil.which("zstd")
    if zstd is None:
        pytest.skip("no zstd command")
    serialpack.dump(OBJECT, tmp_path / "object.spk", "json")
    done = subprocess.run([zstd, "-dc", tmp_path / "object.spk"], capture_output=True, check=True)
    assert json.loads(done.stdout) == OBJECT


def test_auto_takes_who_holds_it() -> None:
    def chosen(obj: Any) -> str:
        (member,) = serialpack.inspect(io.BytesIO(serialpack.dumps(obj))).members
        return member.chain.serializer.name

    assert chosen(OBJECT) == "msgpack"
    assert chosen([1 << 70]) == "json"
    assert chosen({"a": [1, (2, 3)]}) == "objects"
    with pytest.raises(ValueRefusedError) as caught:
        serialpack.dumps({"a": [1, lambda: 2]})
    assert caught.value.value_path == "$.a[1]"
    assert caught.value.kind == "function"


def test_json_is_not_tried_where_it_would_make_another_type(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A large Counter was written, read and compared as JSON first."""
    tried: list[Any] = []
    write = "serialpack.serializers.json.JsonSerializer._dump"
    monkeypatch.setattr(write, lambda _, records: tried.append(records))
    for obj in (Counter(a=1), (1, "x"), {1, 2}):
        assert serialpack.loads(serialpack.dumps(obj)) == obj
    assert not tried


def test_a_refusal_is_one_line_with_path_and_who_can() -> None:
    with pytest.raises(ValueRefusedError) as caught:
        serialpack.dumps({"odd key": [0, {1, 2}]}, "json")
    line = str(caught.value)
    assert line.startswith('$["odd key"][1]: json cannot hold a set: {1, 2}')
    able = line.rpartition("; ")[2].removesuffix(" can").replace(" or ", ", ").split(", ")
    assert able
    for name in able:
        assert serialpack.loads(serialpack.dumps({"a": {1, 2}}, name), trust=True) == {"a": {1, 2}}
    assert "\n" not in line
    np = pytest.importorskip("numpy")
    with pytest.raises(ValueRefusedError) as caught:
        serialpack.dumps({"field": np.eye(3)}, "msgpack")  # whose repr is of three lines
    said = str(caught.value)
    assert "\n" not in said
    assert said.endswith("objects or pickle can")  # not "no serializer here can"


@pytest.mark.parametrize("chain", ["auto", "pickle", "msgpack", "json", "objects", "cbor"])
def test_of_a_memoryview_it_is_said_what_is_held(chain: str) -> None:
    """It was an array of NumPy, of which cloudpickle was said to hold some."""
    with pytest.raises(ValueRefusedError) as caught:
        serialpack.dumps({"a": memoryview(b"abc")}, chain)
    said, _, hint = str(caught.value).partition("; ")
    assert said.startswith(
        f"$.a: {'pickle' if chain == 'auto' else chain} cannot hold a memoryview"
    )
    assert hint == (
        "msgpack, objects or cbor can hold bytes(view)"
        if chain == "json"
        else "bytes(view) can be held"
    )
    for able in ("msgpack", "objects", "cbor") if chain == "json" else (chain,):
        data = serialpack.dumps({"a": b"abc"}, able)
        assert serialpack.loads(data, trust=True) == {"a": b"abc"}


def test_nothing_is_written_where_the_object_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueRefusedError):
        serialpack.dump({"a": object()}, tmp_path / "a.spk", "json")
    file = io.BytesIO()
    with pytest.raises(ValueRefusedError):
        serialpack.dump((1, 2), file, "json")
    assert not list(tmp_path.iterdir())
    assert not file.getvalue()


def test_without_the_proof_a_library_may_change_values() -> None:
    assert serialpack.loads(serialpack.dumps((1, 2), "json", verify=False)) == [1, 2]


def test_what_can_run_code_is_loaded_on_trust_only() -> None:
    data = serialpack.dumps((1, 2), "pickle:5")
    with pytest.raises(RefusedError, match="trust"):
        serialpack.loads(data)
    assert serialpack.loads(data, trust=True) == (1, 2)


def _lower(obj: Any) -> Any:
    if isinstance(obj, things.Point):
        return {"$point": [obj.x, obj.y, obj.tags]}
    raise TypeError(f"no words for {type(obj).__name__}")


def _lower_without_tags(obj: Any) -> Any:
    return {"$point": [obj.x, obj.y, []]}


def _lift(values: dict[Any, Any]) -> Any:
    return things.Point(*values["$point"]) if "$point" in values else values


@pytest.mark.parametrize("chain", ["json", "msgpack", "ujson", "auto"])
def test_own_classes(chain: str) -> None:
    obj = {"points": [things.Point(1, 2.5, ["a"]), things.Point(3, 4.5, [])]}
    data = serialpack.dumps(obj, chain, default=_lower, object_hook=_lift)
    assert serialpack.loads(data, object_hook=_lift) == obj
    plain = [{"$point": [1, 2.5, ["a"]]}, {"$point": [3, 4.5, []]}]
    assert serialpack.loads(data) == {"points": plain}


def test_an_attribute_left_out_is_a_refusal() -> None:
    with pytest.raises(ValueRefusedError) as caught:
        serialpack.dumps(
            [things.Point(1, 2.5, ["a"])],
            "json",
            default=_lower_without_tags,
            object_hook=_lift,
        )
    assert caught.value.value_path == "$[0].tags"


def test_default_without_a_hook_cannot_be_proved() -> None:
    obj = [things.Point(1, 2.5)]
    with pytest.raises(UsageError, match="object_hook"):
        serialpack.dumps(obj, "json", default=_lower)
    assert serialpack.dumps(obj, "json", default=_lower, verify=False)


def test_bad_calls_and_bad_bytes(tmp_path: Path) -> None:
    data = serialpack.dumps(OBJECT)
    with pytest.raises(UsageError, match="raw"):
        serialpack.dumps(b"abc", "raw")
    with pytest.raises(UsageError, match="unknown serializer"):
        serialpack.dumps(1, "jsno")
    for chain in ("zstd:19", "shuffle:8+zstd", "shuffle:8", "none"):
        with pytest.raises(UsageError, match=r"is a (codec|filter), which stands") as caught:
            serialpack.dumps(OBJECT, chain)
        assert serialpack.loads(serialpack.dumps(OBJECT, str(caught.value).split("'")[1])) == OBJECT
    with pytest.raises(UsageError):
        serialpack.dumps(1, "json", options={"schema": "x"})
    with pytest.raises(NotContainerError):
        serialpack.loads(b"[1, 2]")
    for end in range(0, len(data), 7):
        with pytest.raises((DamagedError, NotContainerError)):
            serialpack.loads(data[:end])
    for at in range(len(data)):
        broken = bytearray(data)
        broken[at] ^= 4
        with pytest.raises((DamagedError, NotContainerError, serialpack.UnsupportedError)):
            serialpack.loads(broken)
    source = tmp_path / "a.ndjson"
    source.write_text("1\n")
    serialpack.pack(source, tmp_path / "a.spk")
    with pytest.raises(UsageError, match=r"unpack\(path, target\)"):
        serialpack.load(tmp_path / "a.spk")


def test_a_source_and_its_serialized_bytes_may_be_one_and_the_same_byte() -> None:
    """10 is b"\\n" in MessagePack and in CBOR, and Python has only one object for it."""
    packed, again = io.BytesIO(), io.BytesIO()
    report = serialpack.pack(io.BytesIO(b"\n"), packed, serializer="cbor", format="msgpack")
    assert report.exact
    packed.seek(0)
    serialpack.unpack(packed, again)
    assert again.getvalue() == b"\n"


def test_errors_are_those_that_python_people_catch(tmp_path: Path) -> None:
    """They name the path, and speak of arguments; FileError alone was raised, without a path."""
    there = tmp_path / "a.spk"
    serialpack.dump(OBJECT, there)
    with pytest.raises(FileExistsError, match=r"a\.spk: exists already; force=True") as caught:
        serialpack.dump(OBJECT, there)
    assert isinstance(caught.value, FileError)
    assert (caught.value.errno, caught.value.filename) == (errno.EEXIST, str(there))
    with pytest.raises(FileNotFoundError, match=r"none\.spk: cannot read") as absent:
        serialpack.load(tmp_path / "none.spk")
    assert absent.value.errno == errno.ENOENT
    with pytest.raises(FileNotFoundError, match="its folder does not exist") as homeless:
        serialpack.dump(OBJECT, tmp_path / "none" / "a.spk")
    assert homeless.value.errno == errno.ENOENT
    with pytest.raises(IsADirectoryError, match="is a folder") as folder:
        serialpack.load(tmp_path)
    assert folder.value.errno == errno.EISDIR
    serialpack.dump((1,), there, "pickle", force=True)
    with pytest.raises(RefusedError, match=r"a\.spk: pickle can run .*; trust=True") as refused:
        serialpack.load(there)
    assert "--" not in str(refused.value)


def test_an_argument_that_does_nothing_is_refused(tmp_path: Path) -> None:
    """``compress=3``, as joblib has it, was passed over."""
    wrong: Any = serialpack.dumps
    with pytest.raises(TypeError, match="no argument 'compress'"):
        wrong(OBJECT, compress=3)
    with pytest.raises(TypeError, match="no argument 'protocol'"):
        serialpack.dump(OBJECT, tmp_path / "a", protocol=5)  # type: ignore[call-arg]
    with pytest.raises(UsageError, match="threads must be 1 or more"):
        wrong(OBJECT, threads=0)
    with pytest.raises(UsageError, match="values of meta must be strings"):
        wrong(OBJECT, meta={"a": 1})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("threads", [0, -1])
def test_load_takes_no_fewer_threads_than_dump(threads: int, tmp_path: Path) -> None:
    """Large data waited for ever for a thread."""
    serialpack.dump(OBJECT, tmp_path / "a.spk")
    data = serialpack.dumps([bytes(range(256)) * 40_000], "msgpack+zstd")
    for load in (partial(serialpack.load, tmp_path / "a.spk"), partial(serialpack.loads, data)):
        with pytest.raises(UsageError, match="threads must be 1 or more"):
            load(threads=threads)


@pytest.mark.parametrize(
    ("function", "name", "value", "takes"),
    [
        (serialpack.dumps, "effort", "high", "an integer"),
        (serialpack.dumps, "verify", "no", "True or False"),
        (serialpack.dumps, "options", [1], "a mapping or None"),
        (partial(serialpack.dump, 1), "chain", 5, "text"),
        (serialpack.loads, "trust", "no", "True or False"),
        (serialpack.load, "trust", "no", "True or False"),
        (serialpack.inspect, "columns", "x", "True or False"),
        (partial(serialpack.pack, "a"), "threads", "2", "an integer or None"),
        (partial(serialpack.pack, "a"), "filters", "shuffle", "a list of texts"),
        (partial(serialpack.unpack, "a"), "max_size", 2.5, "an integer or None"),
        (partial(serialpack.unpack_archive, "a"), "include", "*.json", "a list of texts"),
        (partial(serialpack.convert, "a"), "lossy", "bytes", "a list of texts"),
        (partial(serialpack.convert, "a"), "fields", ["a", 1], "a list of texts"),
    ],
)
def test_an_argument_of_another_type_is_named(
    function: Any, name: str, value: Any, takes: str
) -> None:
    """Text is a sequence of texts, and True: it was read letter by letter, or let code run."""
    with pytest.raises(TypeError) as caught:
        function(serialpack.dumps(1), **{name: value})
    assert str(caught.value) == f"{name} must be {takes}, not {value!r} ({type(value).__name__})"


def test_numbers_of_numpy_are_numbers() -> None:
    data = serialpack.dumps(1, effort=numpy.int64(3), verify=numpy.True_)  # type: ignore[arg-type]
    assert serialpack.loads(data, trust=numpy.False_) == 1  # type: ignore[arg-type]


def test_what_is_no_file_is_named(tmp_path: Path) -> None:
    wrong: Any = serialpack.load
    for source in (serialpack.dumps([1]), 5, None):
        with pytest.raises(TypeError, match=f"binary file object, not {type(source).__name__}"):
            wrong(source)
    path = tmp_path / "a"
    with path.open("wb") as file, pytest.raises(FileError, match="not opened to read"):
        serialpack.load(file)
    with path.open("rb") as file, pytest.raises(FileError, match="not opened to write"):
        serialpack.dump(OBJECT, file)


def test_paths_may_be_bytes(tmp_path: Path) -> None:
    """As those of os.listdir(b".") are, also of names that are no text; and as open takes them."""

    class InBytes:
        def __fspath__(self) -> bytes:
            return bytes(tmp_path / "b.spk")

    for path in (bytes(tmp_path) + b"/\xff.spk", InBytes()):
        named: Any = path
        serialpack.dump([1], target=named)
        assert serialpack.load(named) == [1]
        with pytest.raises(FileExistsError):
            serialpack.dump([1], named)
        serialpack.pack(io.BytesIO(b"1\n2\n"), named, format="ndjson", force=True)
        with serialpack.open(named) as records:
            assert list(records) == [1, 2]
    with pytest.raises(FileNotFoundError, match=r"^none: "):
        serialpack.load(b"none")  # type: ignore[arg-type]


def test_loads_takes_any_buffer() -> None:
    """Read-only, of other items than bytes, and in pieces; and nothing that is loaded is its."""
    np = pytest.importorskip("numpy")
    array = np.arange(30_000, dtype="f8")
    for chain in ("auto+none", "auto", "msgpack+none"):
        obj = array if chain != "msgpack+none" else OBJECT
        data = serialpack.dumps(obj, chain)
        spread = np.zeros(2 * len(data), "u1")
        spread[::2] = np.frombuffer(data, "u1")
        padded = bytearray(data)
        for buffer in (memoryview(data), memoryview(padded), memoryview(spread)[::2]):
            found = serialpack.loads(buffer)
            assert np.array_equal(found, array) if obj is array else found == OBJECT
            if obj is array:
                found[:] = 0
                assert bytes(buffer) == data


def test_arrays_of_any_strides_keep_every_bit_where_they_stand_beside() -> None:
    np = pytest.importorskip("numpy")
    bits = np.arange(120_000, dtype="<u8") + 0x7FF8000000000001
    cube = bits.view("<f8").reshape(40, 50, 60)
    for array in (cube[::-1, ::2], cube[..., ::-3], cube.transpose(1, 0, 2), cube[:, :1][:, 0]):
        array.flags.writeable = False
        for chain in ("auto+none", "auto"):
            back = serialpack.loads(serialpack.dumps([array, (1,)], chain))[0]
            assert back.tobytes() == array.tobytes()
            assert (back.dtype, back.shape) == (array.dtype, array.shape)
            assert not back.flags.writeable
    with pytest.raises(ValueRefusedError, match="objects cannot hold"):
        serialpack.dumps(np.zeros(9000, np.dtype([("a", object)], align=True)), "objects")
