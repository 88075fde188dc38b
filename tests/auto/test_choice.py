"""What auto chooses, for a file and for each block, and that it says why."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import pytest

import serialpack
from serialpack.auto.choice import LEAST, choose, settle
from serialpack.auto.records import SAMPLE, SAMPLES, _lines
from serialpack.auto.worth import spread
from serialpack.bench.samples import parse_sample
from serialpack.inspection.info import MemberInfo
from serialpack.stages.effort import EFFORTS
from serialpack.stages.stage import Buffer

R = random.Random(7)
MANY = b"".join(parse_sample("contacts:12000")[0].chunks(12000))
FEW, MORE = (MANY[: MANY.index(b"\n", size) + 1] for size in (20_000, 700_000))
NOISE = R.randbytes(1 << 20)
WORDS = b" ".join(R.choice([b"lorem", b"ipsum", b"dolor", b"sit"]) for _ in range(100_000))


def packed(data: bytes, **how: object) -> bytes:
    out = io.BytesIO()
    serialpack.pack(io.BytesIO(data), out, **how)  # type: ignore[arg-type]
    return out.getvalue()


def member(container: bytes) -> MemberInfo:
    (found,) = serialpack.inspect(io.BytesIO(container)).members
    return found


def unpacked(container: bytes) -> bytes:
    out = io.BytesIO()
    serialpack.unpack(io.BytesIO(container), out)
    return out.getvalue()


def array(values: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()


def partly(share: float, size: int = 1 << 20) -> bytes:
    """Bytes of which about ``share`` can be saved, wherever one looks."""
    piece = 1000
    saved = int(share * piece)
    return b"".join(R.randbytes(piece - saved) + bytes(saved) for _ in range(size // piece))


@pytest.mark.parametrize(
    ("data", "effort", "chain", "why"),
    [
        (MANY, 3, "columns:3+none", "a sample of its records is"),
        (MORE, 3, "columns:3+none", "columns of its records"),
        (MORE, 9, "columns:9+none", "columns of its records"),
        (FEW[: FEW.index(b"\n", 5000) + 1], 3, "raw+zstd:3", ""),
        (MANY, 1, "raw+zstd:1", "effort -1 leaves records whole"),
        (MANY, 2, "raw+zstd:2", "effort -2 leaves records whole"),
        (WORDS, 3, "raw+zstd:3", "neither records nor"),
        (NOISE, 3, "raw+zstd:3", "neither records nor"),
    ],
    ids=["many", "more", "more-9", "small", "fast", "faster", "words", "noise"],
)
def test_a_file_is_looked_at_and_the_reason_kept(
    data: bytes, effort: int, chain: str, why: str
) -> None:
    container = packed(data, effort=effort, format="ndjson" if data in (MANY, MORE) else None)
    found = member(container)
    assert str(found.chain) == chain
    assert why in found.why
    assert bool(found.why) == bool(why)
    assert unpacked(container) == data


def test_stages_that_are_named_are_not_chosen() -> None:
    for how in ({"serializer": "raw"}, {"codec": "zstd:3"}, {"filters": ("shuffle:4",)}):
        found = member(packed(FEW, format="ndjson", **how))
        assert found.chain.serializer.name == "raw"
        assert found.why == ""


def test_a_json_array_of_several_blocks_is_sampled() -> None:
    records = [json.loads(line) for line in FEW.splitlines()] * 300
    data = json.dumps(records).encode()
    found = member(packed(data, format="json"))
    assert len(found.blocks) > 1
    assert str(found.chain) == "columns:3+none"
    assert "smaller as columns" in found.why


def test_keys_that_are_data_are_no_columns() -> None:
    """Columns took ten times as long as zstd, to save nothing. Of more places the same keys come
    again so often that columns gain."""
    draw = random.Random(1)
    names = [[f"{draw.randrange(1 << 24):x}" for _ in range(30)] for _ in range(20)]

    def of_places(number: int) -> bytes:
        kinds = [(n, k, draw.sample(names[k], 20)) for n in range(number) for k in range(20)]
        return b"".join(
            json.dumps(
                {
                    "all": {
                        f"l{n}": {
                            "of": f"l{n}",
                            f"kind{k}": {x: f"{x:10} {n % 7}" for x in keys},
                        }
                    }
                },
                indent=1,
            ).encode()
            for n, k, keys in kinds
        )

    few, more = of_places(20), of_places(60)
    assert 256 << 10 < len(few) < len(more) < EFFORTS[3].block_size
    report = serialpack.pack(io.BytesIO(few), io.BytesIO(), format="json")
    assert str(report.chain) == "raw+zstd:3"
    assert "keys are data" in report.why
    assert str(member(packed(more, format="json")).chain) == "columns:3+none"


def test_one_record_larger_than_a_sample_decides_nothing() -> None:
    data = json.dumps({"a": NOISE[:300_000].hex(), "b": [1, 2]}).encode() * 9
    choice = settle(choose(), "ndjson", lambda size: data[:size])
    assert choice.settled
    assert str(choice.chain) == "raw+zstd:3"


@pytest.mark.parametrize(
    ("values", "filters"),
    [
        (np.cumsum(np.random.default_rng(1).normal(size=60_000)).astype("<f4"), "shuffle:4"),
        (np.random.default_rng(2).integers(0, 1000, (300, 200)).cumsum(0), "delta:8@200"),
        (np.random.default_rng(4).integers(1, 9, (99, 200)).cumsum(0).astype("M8[25s]"), "delta:8"),
        (np.random.default_rng(3).integers(0, 256, 90_000).astype("u1"), ""),
    ],
    ids=["f4", "i8", "M8", "u1"],
)
def test_arrays_are_shuffled_by_their_items(values: np.ndarray, filters: str) -> None:
    data = array(values)
    container = packed(data)
    found = member(container)
    assert filters in str(found.chain)
    assert bool(found.chain.filters) == bool(filters)
    assert unpacked(container) == data
    # The reason takes some bytes.
    assert len(container) <= len(packed(data, serializer="raw")) + 200


@pytest.mark.parametrize("letter", np.typecodes["AllInteger"] + np.typecodes["AllFloat"] + "mM")
def test_arrays_of_every_type_of_numbers_come_back(letter: str) -> None:
    kind = letter + "8[s]" if letter in "mM" else letter
    data = array(np.cumsum(np.random.default_rng(5).normal(size=20_000)).astype(kind))
    assert unpacked(packed(data)) == data


@pytest.mark.parametrize("kind", ["<f0", "<i3", ">c0", "<f99"])
def test_an_array_of_a_type_that_there_is_not_is_bytes(kind: str) -> None:
    data = array(np.zeros(20_000)).replace(b"'<f8'", f"'{kind}'".encode())
    container = packed(data)
    assert str(member(container).chain) == "raw+zstd:3"
    assert unpacked(container) == data


def test_what_hardly_shrinks_is_stored_as_the_effort_says() -> None:
    """At each effort: a block that saves a little less than the stated share, and a little more."""
    for effort, step in EFFORTS.items():
        for share in (0.003, 0.01):
            # Between the first two samples, where none of them looks.
            zeros = bytes(int(share * len(NOISE)))
            data = NOISE[:50_000] + zeros + NOISE[50_000:]
            found = member(packed(data, effort=effort))
            assert found.stored_blocks == (share < step.min_saving), (effort, share)
    assert member(packed(partly(0.07), codec="zstd:3")).stored_blocks == 0


def test_no_effort_stores_more_than_another(tmp_path: Path) -> None:
    """From -5 on the header told how large other blocks could be, where there are none."""
    (tmp_path / "noise").write_bytes(random.Random(2).randbytes(1_300_000))
    packed = [
        serialpack.pack(tmp_path / "noise", tmp_path / "a.spk", effort=effort, force=True).packed
        for effort in (3, 5, 9)
    ]
    assert len(set(packed)) == 1
    asked = serialpack.pack(tmp_path / "noise", tmp_path / "b.spk", block_size=8 << 20)
    assert asked.packed > packed[0]
    assert serialpack.inspect(tmp_path / "b.spk").members[0].block_size == 8 << 20


def test_samples_decide_before_the_codec_sees_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """What they take for noise is looked at whole, but at a level that passes over noise."""
    from serialpack.codecs.zstd import Zstd

    seen: list[tuple[int, int]] = []
    real: Callable[..., Buffer] = Zstd.compress

    def counting(self: Zstd, data: bytes) -> Buffer:
        seen.append((self.values[0], len(data)))
        return real(self, data)

    quickly: Callable[..., bytes] = Zstd.quickly

    def counting_too(self: Zstd, data: bytes, level: int) -> bytes:
        seen.append((level, len(data)))
        return quickly(self, data, level)

    monkeypatch.setattr(Zstd, "compress", counting)
    monkeypatch.setattr(Zstd, "quickly", counting_too)
    size, sample = len(NOISE), SAMPLES * SAMPLE
    packed(NOISE + NOISE[::-1] + NOISE, effort=8, block_size=size, threads=1)
    # The first four times it was asked whether these are numbers.
    blocks = [(19, sample), (3, size), (19, sample), (3, size), (19, sample), (1, size)]
    assert seen[4:] == blocks
    seen.clear()
    packed(NOISE, effort=1)
    assert seen[4:] == [(1, sample), (1, size)]
    seen.clear()
    # -9 always compresses.
    packed(NOISE, effort=9)
    assert seen[4:] == [(22, size)]


@pytest.mark.parametrize("effort", EFFORTS)
def test_a_copy_of_noise_is_found(effort: int) -> None:
    """Samples know nothing of the half that is another's copy."""
    half = NOISE[:200_000]
    assert len(packed(half + half, effort=effort)) < 1.1 * len(half)


@pytest.mark.parametrize("filters", [("delta:8", "shuffle:8"), ("bitshuffle:8",)])
def test_samples_are_taken_behind_the_filters(filters: tuple[str, ...]) -> None:
    """Bytes that only a filter makes compressible are not taken for noise.

    Nor are those that are noise but for some planes, which stand behind all others.
    """
    draw = np.random.default_rng(4)
    if filters[0] == "delta:8":
        values = np.cumsum(draw.integers(0, 256, 1 << 18).astype("<u8") << 30)
    else:
        values = draw.integers(0, 1 << 48, 1 << 18)
    assert member(packed(values.astype("<u8").tobytes(), filters=filters)).stored_blocks == 0


def test_a_block_that_columns_make_no_smaller_is_text_beside_others() -> None:
    from serialpack.columns.stored.block import Form
    from serialpack.container.reader import read_members

    odd = b"".join(R.randbytes(600).replace(b"\n", b"") + b"\n" for _ in range(400))
    container = packed(FEW * 20 + odd, format="ndjson", block_size=200_000)
    forms = [
        Form.of(block.payload[0])
        for found in read_members(io.BytesIO(container).read)
        for block in found.blocks()
    ]
    assert forms.count(Form.COLUMNS) >= 2
    assert forms[-1] in (Form.LARGER, Form.SHAPELESS)
    assert unpacked(container) == FEW * 20 + odd


def test_the_same_bytes_from_a_pipe_and_by_any_number_of_threads() -> None:
    class Pipe(io.RawIOBase):
        """Gives little at a time, and cannot be sought."""

        def __init__(self) -> None:
            self._file = io.BytesIO(MANY)

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            return self._file.readinto(memoryview(buffer)[:70_000])

    first = packed(MANY, format="ndjson", threads=1)
    assert packed(MANY, format="ndjson", threads=2) == first
    out = io.BytesIO()
    serialpack.pack(cast("IO[bytes]", Pipe()), out, format="ndjson")
    assert out.getvalue() == first


def test_what_was_made_of_all_is_not_that_of_a_smaller_block(tmp_path: Path) -> None:
    """Of an array that was tried whole, the first block got all, and nothing was packed."""
    np.save(tmp_path / "a.npy", np.arange(40_000, dtype="<u4"))
    serialpack.pack(tmp_path / "a.npy", tmp_path / "a.spk", block_size=1 << 16)
    container = (tmp_path / "a.spk").read_bytes()
    assert len(member(container).blocks) == 3
    assert unpacked(container) == (tmp_path / "a.npy").read_bytes()


def test_inspect_tells_what_auto_would_do() -> None:
    for data, format in ((MANY, "ndjson"), (FEW, "ndjson"), (NOISE, "bytes"), (b"[1]", "json")):
        shape = serialpack.inspect(io.BytesIO(data), format=format).shape
        assert shape is not None
        report = serialpack.pack(io.BytesIO(data), io.BytesIO(), format=format)
        assert (str(shape.chain), shape.why) == (report.chain, report.why)


def test_samples_are_spread_over_all_of_it() -> None:
    data = R.randbytes(40 * LEAST)
    for item_size in (1, 8, 24):
        sample = spread(data, item_size)
        size = SAMPLE - SAMPLE % item_size
        assert len(sample) == SAMPLES * size
        assert data.startswith(sample[:size])
        # Where each begins is rounded down to whole items.
        assert sample[-size:] in data[-size - SAMPLES * item_size :]


@pytest.mark.parametrize("size", [10_400, 16_384, 30_000, 49_999])
def test_samples_of_little_are_all_of_it(size: int) -> None:
    """Were they the same bytes five times, any array would seem to shrink well as it is."""
    data = R.randbytes(size)
    assert spread(data, 8) == data
    walk = array(np.cumsum(np.random.default_rng(2).normal(size=size // 8)))
    assert member(packed(walk)).chain.filters


@pytest.mark.parametrize("length", [50, 9_000, 40_000, 400_000, 3_000_000])
def test_samples_of_lines_are_whole_and_each_taken_once(length: int) -> None:
    lines = [R.randbytes(length // 2).hex() + "\n" for _ in range((4 << 20) // length)]
    for data in (lines, lines[: 20_000 // length + 1]):
        found = _lines("".join(data).encode()).decode().splitlines(keepends=True)
        assert len(set(found)) == len(found) > 0
        assert set(found) <= set(lines)
        assert len("".join(found)) <= 500_000 + length + 1


def test_the_report_tells_the_sizes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from benchmarks.auto import main

    path = tmp_path / "few.ndjson"
    path.write_bytes(FEW)
    main(["--only", "dial", "--only", "look", str(path)])
    dial, look = (line for line in capsys.readouterr().out.splitlines() if path.name in line)
    sizes = []
    for effort in EFFORTS:
        report = serialpack.pack(path, tmp_path / "x.spk", effort=effort, force=True)
        sizes.append(f"{report.packed:,}")
    assert " | ".join(sizes) in dial
    assert "columns of its records" in look
