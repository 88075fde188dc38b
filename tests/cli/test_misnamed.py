"""Files whose names say a format that begins otherwise are read as what they surely are."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest

from tests.cli.conftest import Run
from tests.cli.told import lines


@pytest.mark.parametrize("ending", ["parquet", "avro", "db", "feather", "npy", "npz", "h5"])
@pytest.mark.parametrize(
    ("data", "format"),
    [
        (b'[{"a":1,"b":2}]', "json"),
        (b'{"a":1,"b":2}\n{"a":3,"b":4}\n', "ndjson"),
        (b"a,b\n1,2\n", "csv"),
    ],
)
def test_text_that_is_called_as_no_text_is_read(
    run: Run, tmp_path: Path, ending: str, data: bytes, format: str
) -> None:
    """It was told to be broken: the README says of JSON called .csv that it is read."""
    (tmp_path / f"a.{ending}").write_bytes(data)
    run("unpack", f"a.{ending}", "--to", format, "-o", "b")
    assert (tmp_path / "b").read_bytes().replace(b"\n", b"") == data.replace(b"\n", b"")
    done = run("unpack", f"a.{ending}", "--to", "ndjson", "-o", "c")
    assert f"read as {format}, by its content" in done.stderr.decode()


def test_bytes_that_have_the_sign_of_another_are_read_as_that(run: Run, tmp_path: Path) -> None:
    numpy.save(tmp_path / "a.npy", numpy.arange(3))
    (tmp_path / "a.npy").rename(tmp_path / "a.npz")
    assert run("unpack", "a.npz", "--to", "json", "-o", "-").stdout.split() == [
        b"[",
        b"0,",
        b"1,",
        b"2",
        b"]",
    ]
    (tmp_path / "b.parquet").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(20))
    (line,) = lines(run("unpack", "b.parquet", "--to", "json", code=3).stderr)
    assert line.startswith("serialpack: b.parquet: PNG: not a data format; ")


@pytest.mark.parametrize("data", [b"", b"hello world\n", bytes(range(1, 90))])
def test_what_is_surely_nothing_else_is_as_it_is_called(
    run: Run, tmp_path: Path, data: bytes
) -> None:
    (tmp_path / "a.parquet").write_bytes(data)
    (line,) = lines(run("unpack", "a.parquet", "--to", "json", code=3).stderr)
    assert line.startswith("serialpack: a.parquet: byte 0: not valid Parquet: ")
