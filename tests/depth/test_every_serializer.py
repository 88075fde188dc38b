"""The limit of levels is the program's own: the same for every serializer, under every Python."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import pytest

import serialpack
from serialpack.depth import MAX_DEPTH
from serialpack.errors import DamagedError, ValueRefusedError
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.base import FAILURES, RecordSerializer
from serialpack.values.equality import difference

#: How many levels are held by those whose format has a limit of its own, or a word for few types.
OWN = {"toml": 300, "protobuf": 500, "avro": 0, "arrow": 0, "parquet": 0, "csv": 0, "tsv": 0}
#: Written by nobody here.
READ_ONLY = {"java"}

#: A stack as threads have it by default where it is smallest.
STACK = 512 << 10

Wrap = Callable[[Any], Any]


class Around(NamedTuple):
    beside: Any
    value: Any


WRAPS: dict[str, Wrap] = {
    "lists": lambda value: [value],
    "maps": lambda value: {"a": value, "b": 2},
}


def value_serializers() -> list[str]:
    return [
        entry.name
        for entry in SERIALIZERS
        if issubclass(cls := SERIALIZERS.cls(entry.name), RecordSerializer)
        and cls.missing(entry.name) is None
        and entry.name not in READ_ONLY
    ]


HERE = value_serializers()


def nested(levels: int, wrap: Wrap, value: Any = 1) -> Any:
    """A map, which all formats take for a record, of so many levels."""
    for _ in range(levels - 1):
        value = wrap(value)
    return {"a": value}


def on_a_small_stack(work: Callable[[], Any]) -> Any:
    """What ``work`` gives in a thread with ``STACK`` bytes of stack, or what it raises."""
    found: list[Any] = []

    def run() -> None:
        try:
            found.append(work())
        except Exception as error:
            found.append(error)

    before = threading.stack_size(STACK)
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    return found[0]


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize("name", [name for name in HERE if name not in OWN])
def test_500_levels_are_held_and_501_refused(name: str, wrap: str) -> None:
    """As an object of the Python API: also where the innermost is empty."""
    innermosts: list[Any] = ["x", [], {}]
    for innermost in innermosts:
        most = MAX_DEPTH - (innermost != "x")
        value = nested(most, WRAPS[wrap], innermost)
        packed = on_a_small_stack(partial(serialpack.dumps, value, name))
        assert isinstance(packed, bytes), packed
        again = on_a_small_stack(partial(serialpack.loads, packed, trust=True))
        assert difference(value, again) is None
        deeper = nested(most + 1, WRAPS[wrap], innermost)
        refused = on_a_small_stack(partial(serialpack.dumps, deeper, name))
        assert isinstance(refused, ValueRefusedError)
        assert refused.kind == "depth"
        assert "more than 500 levels" in str(refused)
        assert refused.value_path == "$"


@pytest.mark.parametrize(
    "wrap", [lambda v: (v,), lambda v: Around([], v), lambda v: {"a": Around(v, 1)}]
)
def test_extensions_in_extensions_take_a_stack_of_their_own(wrap: Wrap) -> None:
    """500 calls from C to Python and back are more than a small one holds."""
    value = nested(MAX_DEPTH // (1 + isinstance(wrap(1), dict)) - 1, wrap)
    packed = on_a_small_stack(partial(serialpack.dumps, value, "objects"))
    assert isinstance(packed, bytes), packed
    again = on_a_small_stack(partial(serialpack.loads, packed))
    assert difference(value, again) is None


def test_no_thread_is_to_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a process may have no more: the depth is refused then, and no less is held."""

    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    # Python 3.12 lets C code call itself 1,500 times, which is 499 levels here.
    value = nested(MAX_DEPTH - 10, lambda v: (v,))
    packed = serialpack.dumps(value, "objects")
    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(ValueRefusedError, match="nested too deeply"):
        serialpack.dumps(value, "objects")
    with pytest.raises(DamagedError, match="more than 500 levels"):
        serialpack.loads(packed)
    assert serialpack.loads(serialpack.dumps((((1,),),), "objects")) == (((1,),),)


def test_no_depth_crashes() -> None:
    """Nor does a value that holds itself. Where the process goes down, no test would say so: the
    last name that it printed does."""
    code = f"""
import sys
sys.path[:0] = {sys.path!r}
from tests.depth.test_every_serializer import WRAPS, nested, on_a_small_stack
import serialpack
from serialpack.errors import ValueRefusedError
cycle = []
cycle.append(cycle)
values = [nested(levels, wrap) for wrap in WRAPS.values() for levels in (501, 1100, 6000, 20_000)]
for name in {HERE!r}:
    print(name, flush=True)
    for value in (*values, {{"a": cycle}}):
        found = on_a_small_stack(lambda: serialpack.dumps(value, name, verify=False))
        if not isinstance(found, ValueRefusedError) and value["a"] is not cycle:
            print(type(found), str(found)[:200])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.splitlines(), done.returncode, done.stderr) == (HERE, 0, "")


@pytest.mark.parametrize("name", HERE)
def test_the_record_is_named(name: str) -> None:
    """Of several, the one that is too deep; by the serializer itself."""
    serializer = SERIALIZERS.create(name)
    assert isinstance(serializer, RecordSerializer)
    records = [{"a": "x"}, {"a": "x"}, nested(MAX_DEPTH + 1, WRAPS["lists"])]
    with pytest.raises(FAILURES) as caught:
        serializer.dump(records)
    if name not in ("csv", "tsv"):
        assert serializer.blame(records, caught.value).record == 2


JSON = [name for name in HERE if SERIALIZERS.cls(name).stored_format == "ndjson"]
MESSAGES = [name for name in HERE if SERIALIZERS.cls(name).stored_format == "msgpack"]


def _hidden(levels: int) -> bytes:
    """Lists within each other, with as many brackets in strings that seem to close them."""
    return b"[" + b'"]\\"]\\\\",[' * (levels - 1) + b"1" + b',"[[\\""]' * (levels - 1) + b"]\n"


@pytest.mark.parametrize("name", JSON)
@pytest.mark.parametrize("text", [lambda n: b"[" * n + b"]" * n + b"\n", _hidden])
def test_stored_json_that_is_too_deep_is_refused(name: str, text: Callable[[int], bytes]) -> None:
    serializer = SERIALIZERS.create(name)
    assert isinstance(serializer, RecordSerializer)
    line = b'{"a":1}\n'
    held = on_a_small_stack(lambda: serializer.load(line + text(MAX_DEPTH)))
    assert isinstance(held, list), held
    assert len(held) == 2
    for levels in (MAX_DEPTH + 1, 6000, 100_000):
        for read in (serializer.load, serializer.load_unchecked):
            found = on_a_small_stack(partial(read, line + text(levels)))
            assert isinstance(found, ValueError)
            assert "more than 500 levels" in str(found)


@pytest.mark.parametrize("name", MESSAGES)
def test_stored_messages_that_are_too_deep_are_refused(name: str) -> None:
    serializer = SERIALIZERS.create(name)
    assert isinstance(serializer, RecordSerializer)
    for head, last in ((b"\x91", b"\x91\1"), (b"\x91", b"\x90"), (b"\x81\xa1a", b"\x81\xa1a\1")):
        for before in (b"", b"\1"):
            data = before + head * (MAX_DEPTH - 1) + last
            held = on_a_small_stack(partial(serializer.load, data))
            assert isinstance(held, list), held
            for levels in (MAX_DEPTH + 1, 1000, 1024, 6000, 100_000):
                data = before + head * (levels - 1) + last
                found = on_a_small_stack(partial(serializer.load, data))
                assert isinstance(found, ValueError)
                assert "more than 500 levels" in str(found)
