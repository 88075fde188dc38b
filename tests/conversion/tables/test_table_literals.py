"""Numbers keep their text into tables of text, and out of them with --typed."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import msgpack
import pytest

import serialpack
from serialpack.conversion.tables.shaping import Shaping
from tests.cli.conftest import Run
from tests.cli.conftest import run as run
from tests.conversion.converting import converted
from tests.conversion.losses.test_literals import TEXTS

TYPED = Shaping(typed=True, nest=())


def rows_with(text: str) -> bytes:
    """The number beside others, in a map, in a list, and as text."""
    return (
        f'{{"v":{text},"m":{{"a":{text},"b":{{"c":0.5}}}},"l":[{text},{{"k":{text}}}],"s":"{text}"}}\n'
        '{"v":7,"m":{"a":2.5,"b":{"c":1.0}},"l":[],"s":"x"}\n'
    ).encode()


@pytest.mark.parametrize("target", ["csv", "tsv"])
@pytest.mark.parametrize("verify", [True, False])
def test_a_number_keeps_its_text_there_and_back(target: str, verify: bool) -> None:
    for text in TEXTS:
        data = rows_with(text)
        for source in ("ndjson", "json"):
            given = data if source == "ndjson" else b"[" + data.strip().replace(b"\n", b",") + b"]"
            table = converted(given, source, target, verify=verify)
            mark = "\t" if target == "tsv" else ","
            assert f"\n{text}{mark}{text}{mark}0.5{mark}".encode() in table, text
            assert converted(table, target, "ndjson", verify=verify, shaping=TYPED) == data, text
            assert converted(table, target, target, verify=verify, shaping=TYPED) == table, text


@pytest.mark.parametrize("source", ["csv", "tsv"])
def test_it_is_the_number_where_the_target_has_no_text(source: str) -> None:
    head = b"a\n"
    packed = converted(head + b"1.10\n1e2\n2.5\n", source, "msgpack", shaping=TYPED)
    assert list(msgpack.Unpacker(io.BytesIO(packed))) == [{"a": 1.1}, {"a": 100.0}, {"a": 2.5}]
    for text, why in (
        ("0.1000000000000000000001", "more digits"),
        ("1e400", "beyond"),
        ("-0", "negative zero"),
    ):
        with pytest.raises(
            serialpack.ValueRefusedError, match=r"record 1, \$\.a: .*" + text
        ) as said:
            converted(head + f"1\n{text}\n".encode(), source, "msgpack", shaping=TYPED)
        assert why in said.value.said or text in said.value.said
    lossy = converted(
        head + b"1\n0.1000000000000000000001\n", source, "msgpack", shaping=TYPED, lossy=["digits"]
    )
    assert list(msgpack.Unpacker(io.BytesIO(lossy))) == [{"a": 1}, {"a": 0.1}]


@pytest.mark.parametrize("source", ["yaml", "toml"])
def test_from_other_text(source: str) -> None:
    text = b"a: 1.10\nb: 1.0e+2\nc: .5\n" if source == "yaml" else b"a=1.10\nb=1.0e+2\nc=0_0.5\n"
    text = text.replace(b"0_0.5", b"1_0.5")
    names, row = converted(text, source, "csv").splitlines()
    assert names == b"a,b,c"
    assert row == (b"1.10,1.0e+2,0.5" if source == "yaml" else b"1.10,1.0e+2,10.5")
    again = converted(
        b"a,b\n1.10,1e2\n", "csv", source if source == "toml" else "yaml", shaping=TYPED
    )
    assert b"1.10" in again


def test_doubles_of_a_binary_source_are_as_ever() -> None:
    """Among them such as are written with exponents, and beside lists that have them too."""
    values: list[Any] = [1e16, 1e-5, 5e-324, 1.5, -0.0, 1e22, 0.00001, 2.0**70]
    records = [{"a": value, "l": [value, {"b": value}]} for value in values]
    table = converted(msgpack.packb(records), "msgpack", "csv")
    again = converted(table, "csv", "msgpack", shaping=TYPED)
    assert list(msgpack.Unpacker(io.BytesIO(again))) == records


def test_every_way_of_the_command_line(tmp_path: Path, run: Run) -> None:
    lines = [{"v": "X", "o": {"p": "X"}, "n": n, "q": n % 3 == 0 or None} for n in range(3000)]
    data = "\n".join(map(json.dumps, lines)).replace('"X"', "1.10").encode() + b"\n"
    path = tmp_path / "a.ndjson"
    path.write_bytes(data)
    said = ("--to", "csv", "--null", "null", "-o", "-")
    of_file = run("unpack", *said, path).stdout
    assert of_file.count(b"1.10,1.10,") == len(lines)
    assert run("unpack", "-F", "ndjson", *said, "-", stdin=data).stdout == of_file
    run("pack", path)
    assert run("unpack", *said, f"{path}.spk").stdout == of_file
    assert run("unpack", "--lossy", "all", *said, path).stdout == of_file
    assert run("unpack", "--skip-bad", *said, path).stdout == of_file
    for verify in ((), ("--no-verify",)):
        back = run("unpack", "-F", "csv", "--to", "ndjson", "--typed", "--nest", "--null", "null",
                   *verify, "-o", "-", "-", stdin=of_file).stdout  # fmt: skip
        assert back == data.replace(b": ", b":").replace(b", ", b",")
    assert (
        run("unpack", "--fields", "v", "--to", "csv", "-o", "-", path).stdout
        == b"v\n" + b"1.10\n" * 3000
    )


def test_bad_rows_are_left_out_and_the_others_keep_it() -> None:
    data = b"a,b\n1.10,1\n1\n2.50,2\n"
    for target in ("json", "ndjson", "yaml", "csv"):
        out = converted(data, "csv", target, shaping=TYPED, skip_bad=True)
        assert b"1.10" in out
        assert b"2.50" in out


def test_a_number_is_spelled_alike_beside_nan() -> None:
    """1e16 was 1e+16 where a NaN stood in the same block."""
    from serialpack.conversion.tables.cells import floats

    some = [1e16, 1e22, 1e-7, 1.5, -0.0, 5e-324, 1.7976931348623157e308]
    assert floats([*some, float("nan"), float("-inf")]) == [*floats(some), "NaN", "-Infinity"]
