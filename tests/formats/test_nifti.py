"""What NIfTI says beside type and shape: its second version, scales of numbers, colours."""

from __future__ import annotations

import gzip
import io
import json
import math
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import serialpack
from serialpack.detection.detect import detect
from serialpack.errors import InputError
from serialpack.formats.arrays.header import scale_words
from tests.formats.test_arrays_layout import nifti

VOLUME = np.arange(24, dtype="i2").reshape(2, 3, 4)


def nifti2(
    order: str, slope: float = 0.0, intercept: float = 0.0, start: int = 544, size: int = 540
) -> bytes:
    """A header for ``VOLUME`` by nifti2.h, with the four bytes behind it."""
    head = bytearray(544)
    struct.pack_into(order + "i8s", head, 0, size, b"n+2\0\r\n\x1a\n")
    struct.pack_into(order + "2h", head, 12, 4, 16)
    struct.pack_into(order + "8q", head, 16, 3, *VOLUME.shape, 1, 1, 1, 1)
    struct.pack_into(order + "q2d", head, 168, start, slope, intercept)
    return bytes(head)


def nifti1(order: str, slope: float, intercept: float) -> bytes:
    head = bytearray(nifti(order, VOLUME.shape, 4))
    struct.pack_into(order + "2f", head, 112, slope, intercept)
    return bytes(head)


def numbers(order: str) -> bytes:
    return VOLUME.astype(order + "i2").tobytes("F")


def look(data: bytes, path: Path) -> Any:
    path.write_bytes(data)
    shape = serialpack.inspect(path).shape
    assert shape is not None
    return shape.array


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (nifti("<", VOLUME.shape, 4)[:344] + b"ni1\0", "a NIfTI pair"),
        (nifti(">", VOLUME.shape, 4)[:344] + b"ni1\0", "a NIfTI pair"),
        (nifti2("<")[:4] + b"ni2\0" + nifti2("<")[8:], "a NIfTI pair"),
        (b"\x5c\x01\0\0" + bytes(34) + b"r" + bytes(309), "an Analyze pair"),
        (b"\0\0\x01\x5c" + bytes(34) + b"r" + bytes(309), "an Analyze pair"),
    ],
)
def test_a_header_whose_numbers_are_in_another_file(data: bytes, words: str) -> None:
    """It was bytes, of which nothing was said."""
    with pytest.raises(serialpack.SerialpackError, match=f"the header of {words}: known") as caught:
        serialpack.convert(io.BytesIO(data), io.BytesIO(), to="npy")
    assert "beside its NAME.img" in str(caught.value)


def pair(order: str, head: bytes, start: int = 0) -> tuple[bytes, bytes]:
    """The header, of the first or the second version, and the numbers as they stand in two."""
    made = bytearray(head)
    if head[4:7] == b"n+2":
        made[4:7] = b"ni2"
        struct.pack_into(order + "q", made, 168, start)
    else:
        made[344:347] = b"ni1"
        struct.pack_into(order + "f", made, 108, start)
    return bytes(made), bytes(start) + numbers(order)


def analyze(order: str) -> tuple[bytes, bytes]:
    head, image = pair(order, nifti1(order, 0.0, 0.0))
    return head[:38] + b"r" + head[39:344] + bytes(4), image


PAIRS = {
    "first": pair("<", nifti1("<", 2.0, 1.0)),
    "first, big": pair(">", nifti1(">", 0.0, 0.0), start=32),
    "second": pair("<", nifti2("<")),
    "second, big": pair(">", nifti2(">"), start=7),
    "analyze": analyze("<"),
    "analyze, big": analyze(">"),
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("case", PAIRS)
def test_a_pair_is_read_by_either_of_its_files(case: str, packed: bool, tmp_path: Path) -> None:
    head, image = PAIRS[case]
    ending = ".gz" if packed else ""
    files = {"a.hdr" + ending: head, "a.img" + ending: image}
    for name, data in files.items():
        (tmp_path / name).write_bytes(gzip.compress(data) if packed else data)
    for name in files:
        path = tmp_path / name
        shape = serialpack.inspect(path).shape
        assert shape is not None
        assert shape.inside is not None
        assert shape.inside.look is not None
        assert shape.inside.look.array is not None
        assert shape.inside.look.array.shape == VOLUME.shape
        assert shape.inside.look.array.maximum == 23
        serialpack.convert(path, tmp_path / "a.npy", force=True)
        np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), VOLUME)
        np.testing.assert_array_equal(serialpack.load(path, scaled=False), VOLUME)
        serialpack.pack(path, tmp_path / "a.spk", force=True)
        serialpack.unpack(tmp_path / "a.spk", tmp_path / "again", force=True)
        assert (tmp_path / "again").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("name", ["a.hdr", "a.img"])
def test_none_of_a_pair_is_removed(name: str, tmp_path: Path) -> None:
    """What is left could not be read any more; packed, each is kept by itself."""
    files = {"a.hdr": PAIRS["first"][0], "a.img": PAIRS["first"][1]}
    for each, data in files.items():
        (tmp_path / each).write_bytes(data)
    command = [sys.executable, "-m", "serialpack"]
    words = [*command, "unpack", "--to", "npy", "--rm", name]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"serialpack: {name}: --rm removes one file")
    assert {each.name for each in tmp_path.iterdir()} == {*files}
    subprocess.run([*command, "pack", "--rm", "a.hdr", "a.img"], cwd=tmp_path, check=True)
    assert {each.name for each in tmp_path.iterdir()} == {"a.hdr.spk", "a.img.spk"}


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_a_pair_in_a_folder_is_taken_once(ending: str, tmp_path: Path) -> None:
    """It was converted twice, to the same; two files that are no pair, and named ones, still are
    two."""
    head, image = PAIRS["first"]
    folder = tmp_path / "in"
    folder.mkdir()
    spell = gzip.compress if ending else bytes
    for name, data in {"a.hdr": head, "a.img": image}.items():
        (folder / (name + ending)).write_bytes(spell(data))
    command = [sys.executable, "-m", "serialpack", "unpack", "--to", "npy"]

    def told(*words: str) -> str:
        done = subprocess.run([*command, *words], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stderr

    of_one = told("-rv", "in", "-o", "out")
    assert f"in/a.img{ending}: the numbers of in/a.hdr{ending}, and taken with it" in of_one
    assert [each.name for each in (tmp_path / "out").iterdir()] == ["a.hdr.npy"]
    assert "taken with" not in told("-r", "./in", "-o", "out", "-f")
    told("-r", "in", "--include", "*.img*", "-o", "numbers")
    assert [each.name for each in (tmp_path / "numbers").iterdir()] == ["a.img.npy"]
    told(f"in/a.hdr{ending}", f"in/a.img{ending}", "-o", "both/")
    assert len(list((tmp_path / "both").iterdir())) == 2


def test_half_a_pair(tmp_path: Path) -> None:
    """A header without its numbers is told, and numbers without a header are bytes."""
    head, image = PAIRS["first"]
    (tmp_path / "a.hdr").write_bytes(head)
    with pytest.raises(InputError, match=r"a\.hdr: a volume's header.* beside it: a\.img"):
        serialpack.convert(tmp_path / "a.hdr", tmp_path / "a.npy")
    shape = serialpack.inspect(tmp_path / "a.hdr").shape
    assert shape is not None
    assert shape.inside is not None
    assert "a.img" in shape.inside.why
    (tmp_path / "a.img").write_bytes(image[:-1])
    for name in ("a.hdr", "a.img"):
        with pytest.raises(InputError, match=r"too early|is missing"):
            serialpack.convert(tmp_path / name, tmp_path / "a.npy")
    for other in (b"ENVI\n", head[:200], head[:344] + b"ni3\0", b"\0" + head[1:]):
        (tmp_path / "a.hdr").write_bytes(other)
        with pytest.raises(InputError, match=r"a\.img: there are no records"):
            serialpack.convert(tmp_path / "a.img", tmp_path / "a.npy")
    assert not (tmp_path / "a.npy").exists()


@pytest.mark.parametrize("order", ["<", ">"])
def test_the_second_version_is_read(order: str, tmp_path: Path) -> None:
    """It was said not to begin as NIfTI."""
    data = nifti2(order) + numbers(order)
    assert detect(None, data) == "nifti"
    found = look(data, tmp_path / "a.nii")
    assert (found.dtype, found.shape, found.order) == (order + "i2", VOLUME.shape, "F")
    assert (found.minimum, found.maximum, found.scale) == (0, 23, None)
    for to in ("json", "npy"):
        out = io.BytesIO()
        serialpack.convert(tmp_path / "a.nii", out, to=to)
        read: Any = json.loads if to == "json" else lambda data: np.load(io.BytesIO(data)).tolist()
        assert read(out.getvalue()) == VOLUME.tolist()
    serialpack.pack(tmp_path / "a.nii", tmp_path / "a.spk")
    serialpack.unpack(tmp_path / "a.spk", tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == data


@pytest.mark.parametrize("what", [{"start": 12}, {"start": -1}, {"start": 1 << 40}, {"size": 348}])
def test_a_second_version_that_lies_is_one_line(what: dict[str, int]) -> None:
    data = nifti2("<", **what) + numbers("<")
    for to in ("json", "npy"):
        with pytest.raises(serialpack.InputError, match="not valid NIfTI") as caught:
            serialpack.convert(io.BytesIO(data), io.BytesIO(), format="nifti", to=to)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("head", [nifti1, nifti2])
def test_numbers_that_have_a_scale_are_told_to_be_as_they_are_stored(
    head: Any, order: str, tmp_path: Path
) -> None:
    """That a header was dropped was all that was said."""
    path = tmp_path / "a.nii"
    assert look(head(order, 2.0, -10.5) + numbers(order), path).scale == (2.0, -10.5)

    def run(*args: str) -> str:
        command = [sys.executable, "-m", "serialpack", *args, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
        return done.stdout + done.stderr

    shown = run("inspect")
    assert "2 x - 10.5; x are the numbers as they are stored" in shown
    for to in ("npy", "json", "npz"):
        told = run("unpack", "--to", to)
        assert "1 header dropped (numbers x as they are stored, not 2 x - 10.5)" in told
    assert np.load(tmp_path / "a.npy").tolist() == VOLUME.tolist()


def test_a_scale_is_told_with_all_its_digits() -> None:
    """It was told with six, and what is made by these is off."""
    slope = struct.unpack("<f", struct.pack("<f", 1 / 255))[0]
    assert scale_words((slope, -1.0)) == "0.003921568859368563 x - 1"
    assert scale_words((-2.0, 1e-07)) == "-2 x + 1e-07"


@pytest.mark.parametrize(
    "scale", [(0.0, 7.0), (1.0, 0.0), (math.nan, 0.0), (math.inf, 1.0), (2.0, math.nan)]
)
def test_a_scale_that_is_none_is_not_told(scale: tuple[float, float], tmp_path: Path) -> None:
    data = nifti1("<", *scale) + numbers("<")
    assert look(data, tmp_path / "a.nii").scale is None
    report = serialpack.convert(tmp_path / "a.nii", io.BytesIO(), to="npy")
    assert [loss.became for loss in report.carried] == [""]


@pytest.mark.parametrize(("kind", "names"), [(128, "RGB"), (2304, "RGBA")])
def test_colours_are_records(kind: int, names: str) -> None:
    """They were no type that is read."""
    data = nifti("<", (2, 1), kind) + bytes(range(2 * len(names)))
    out = io.BytesIO()
    serialpack.convert(io.BytesIO(data), out, format="nifti", to="json")
    size = len(names)
    first, second = (dict(zip(names, range(n, n + size), strict=True)) for n in (0, size))
    assert json.loads(out.getvalue()) == [[first], [second]]
