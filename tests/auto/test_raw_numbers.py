"""Numbers in files that say nothing of them: found by auto, and packed as those of arrays are."""

from __future__ import annotations

import io
import pickle
from pathlib import Path

import numpy as np
import pytest

import serialpack
from serialpack.auto.raw_numbers import guessed_layouts

DRAW = np.random.default_rng(1)

#: Text of many words, which no two lines have in the same order.
PROSE = b" ".join(DRAW.choice([b"%d" % n for n in DRAW.integers(0, 1 << 30, 4000)], 30_000))


def image(*shape: int) -> np.ndarray:
    """Hills, the same in all directions, with noise in their lowest bits."""
    along = [np.sin(np.arange(length) / 29 + number) for number, length in enumerate(shape)]
    hills = sum(np.ix_(*along))
    return np.asarray(3000 * hills + 10_000 + DRAW.integers(0, 16, shape))


def packed(data: bytes, format: str = "bytes", **how: object) -> tuple[str, int]:
    """The chain, and the container's size; the bytes come back."""
    out, back = io.BytesIO(), io.BytesIO()
    serialpack.pack(io.BytesIO(data), out, format=format, **how)  # type: ignore[arg-type]
    serialpack.unpack(io.BytesIO(out.getvalue()), back)
    assert back.getvalue() == data
    return str(serialpack.inspect(io.BytesIO(out.getvalue())).members[0].chain), len(out.getvalue())


@pytest.mark.parametrize("kind", ["<u2", ">u2", "<i4", ">i4", "<f4", "<f8", ">f8"])
def test_pixels_pass_a_filter(kind: str) -> None:
    data = image(200, 300).astype(kind).tobytes()
    chain, size = packed(data)
    assert chain != "raw+zstd:3"
    assert size < 0.8 * packed(data, serializer="raw")[1]


def test_size_order_and_row_are_found() -> None:
    (layout,) = guessed_layouts(image(200, 300).astype(">u2").tobytes())
    assert (layout.size, layout.big, layout.lags) == (2, True, (1, 300))
    whole, floats = guessed_layouts(image(200, 300).astype("<f8").tobytes())
    assert (whole.kind, floats.kind, floats.size, floats.big) == ("i", "f", 8, False)


def test_a_header_of_any_length_does_no_harm() -> None:
    chain, size = packed(b"pixels" + image(200, 300).astype("<u2").tobytes())
    assert size < 0.8 * packed(image(200, 300).astype("<u2").tobytes(), serializer="raw")[1]
    assert chain != "raw+zstd:3"


@pytest.mark.parametrize("format", ["npz", "pickle"])
def test_formats_that_hold_arrays_among_others(format: str) -> None:
    """Of them nothing else says where numbers are."""
    array, out = image(200, 300).astype("<u2"), io.BytesIO()
    if format == "npz":
        np.savez(out, array, array.T.copy())
    else:
        pickle.dump({"image": array, "name": "hills"}, out)
    chain, size = packed(out.getvalue(), format=format)
    assert chain != "raw+zstd:3"
    assert size < 0.8 * packed(out.getvalue(), format=format, serializer="raw")[1]


@pytest.mark.parametrize(
    "data",
    [
        PROSE,
        DRAW.bytes(120_000),
        bytes(100_000),
        image(20, 30).astype("<u2").tobytes(),
        b"".join(path.read_bytes() for path in Path(serialpack.__file__).parent.glob("*.py")),
    ],
    ids=["text", "noise", "zeros", "little", "programs"],
)
def test_all_else_is_left_alone(data: bytes) -> None:
    assert guessed_layouts(data) == []
    assert packed(data)[0] == "raw+zstd:3"


def test_looking_costs_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what is no numbers 1/64 is looked at, four times; and NumPy, which takes long, is not."""
    from serialpack.auto import raw_numbers

    seen: list[int] = []
    compressed = raw_numbers._compressed

    def counting(data: bytes) -> int:
        seen.append(len(data))
        return compressed(data)

    monkeypatch.setattr(raw_numbers, "_compressed", counting)
    assert guessed_layouts(PROSE) == []
    assert 0 < sum(seen) <= len(PROSE) / 16
    assert guessed_layouts(PROSE * 64) == []
    assert max(seen) <= 50_000
