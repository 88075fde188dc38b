"""The built-in samples: the same bytes for ever, of the sizes stated, with limits that hold."""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import re
import subprocess
import sys
from math import log2
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest

import serialpack
from serialpack.bench.samples import SAMPLES, _draw, _words, parse_sample
from serialpack.errors import UsageError
from serialpack.formats import FORMATS

ROOT = Path(__file__).parents[2]

#: Sample -> N -> the first half of the SHA-256 of its file. These are never changed: who reads an
#: old table wants to know that it is of the same data.
DIGESTS = {
    "uuid4": {
        1: "ae93dc50b00a20a1ca5efdc20d9927e5",
        1_000: "e5664ba5990263b9803a7e412b27101f",
    },
    "phonebook": {
        3: "79f9daee38a368da45b090e84ac8865a",
        100: "282f936cac52493a8be263eb1d6fc827",
    },
    "contacts": {
        3: "80b612c4c7afcd415f1036ee5f09b888",
        1_000: "3e478c706b283a668cb86d70a35174fd",
    },
    "dna": {
        999: "bcc72682477312aa281df3f619907f9c",
        5_001: "b4847f1af830fdbd37f7fdd66675c3b9",
    },
    "protein": {
        999: "fa17a98a333b4d8a57974618a3d242a7",
        5_001: "90e83e22ecde99e71b25c723a8dce8f2",
    },
    "documents": {
        1: "c9884c1798886a4e0a4dfcfc551eed71",
        1_000: "7cd4faed7d585718d887a4300c727946",
    },
    "target-object": {
        1: "1c9d79141a3947af41d27c9fe9c292a3",
        100: "6f980669ab4ea423eb533981711a7ad5",
    },
    "messages": {
        100: "b32ad33ab7443f82f235865cadd2de8d",
        70_000: "72421bb8d9f0769a9ef3ff2a416d92a1",
    },
    "field3d": {
        5: "acadb7da5e8f5758b4e4547b3a4d5563",
        40: "08958581ca20798211f744174d004b7d",
    },
    "field3d-fortran": {
        5: "0c8b1e8cdef6d7943aecb4e7a1879744",
        40: "5f596c9fa443892d8850a3181bdbeaab",
    },
    "random": {
        10: "d1e6d71f3acfffe2cf49740acb95eb78",
        2_000_000: "416125a984faadb0c084ffb04d3497ab",
    },
}


def test_digests_are_of_all_samples() -> None:
    assert list(DIGESTS) == list(SAMPLES)


@pytest.mark.parametrize(
    ("name", "n", "digest"),
    [(name, n, d) for name, by_n in DIGESTS.items() for n, d in by_n.items()],
)
def test_same_bytes_for_ever(name: str, n: int, digest: str) -> None:
    assert hashlib.sha256(SAMPLES[name].make_file(n)).hexdigest()[:32] == digest


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("n", [1, 17])
def test_file_holds_the_value(name: str, n: int) -> None:
    """And is the pieces joined, in the format that it says."""
    sample = SAMPLES[name]
    file, value = sample.make_file(n), sample.make_value(n)
    assert b"".join(sample.chunks(n)) == file
    if isinstance(value, np.ndarray):
        read = np.load(io.BytesIO(file))
        assert read.dtype == value.dtype == np.float32
        assert read.flags.f_contiguous == value.flags.f_contiguous
        assert np.array_equal(read, value)
    else:
        assert _values(sample.format, file) == value


def _values(format: str, file: bytes) -> Any:
    match format:
        case "json":
            return json.loads(file)
        case "ndjson":
            return [json.loads(line) for line in file.splitlines()]
        case "msgpack":
            return msgpack.unpackb(file)
    assert format == "bytes"
    return file


@pytest.mark.parametrize("name", SAMPLES)
def test_packs_in_its_format(name: str) -> None:
    sample = SAMPLES[name]
    assert FORMATS.declaration(sample.format).is_source
    file, packed, restored = sample.make_file(50), io.BytesIO(), io.BytesIO()
    serialpack.pack(io.BytesIO(file), packed, format=sample.format)
    serialpack.unpack(io.BytesIO(packed.getvalue()), restored)
    assert restored.getvalue() == file


@pytest.mark.parametrize(
    ("name", "n", "size"),
    [
        ("uuid4", 1000, 43 * 1000),
        ("phonebook", 400, 2500 * 400),
        ("contacts", 1000, 400 * 1000),
        ("dna", 100_000, 100_000),
        ("protein", 100_000, 100_000),
        ("field3d", 32, 4 * 32**3),
        ("field3d-fortran", 32, 4 * 32**3),
        ("random", 12_345, 12_345),
    ],
)
def test_size_is_as_stated(name: str, n: int, size: int) -> None:
    assert len(SAMPLES[name].make_file(n)) == pytest.approx(size, rel=0.1)


@pytest.mark.parametrize("n", [100, 1000, 100_000, 1_000_000])
def test_message_is_of_n_bytes(n: int) -> None:
    assert abs(len(SAMPLES["messages"].make_file(n)) - n) <= 4


def test_a_longer_sample_begins_with_a_shorter_one() -> None:
    for name in ("phonebook", "contacts", "documents"):
        make = SAMPLES[name].make_value
        assert make(30)[:20] == make(20)


def test_letters() -> None:
    """All of the alphabet, each about as often, in records that hold N of them."""
    for name, alphabet in (("dna", "ACGT"), ("protein", "ACDEFGHIKLMNPQRSTVWY")):
        records = SAMPLES[name].make_value(50_500)
        assert [r["id"] for r in records] == list(range(51))
        assert [len(r["sequence"]) for r in records] == [1000] * 50 + [500]
        text = "".join(r["sequence"] for r in records)
        assert set(text) == set(alphabet)
        for letter in alphabet:
            assert text.count(letter) == pytest.approx(len(text) / len(alphabet), rel=0.1)


def test_uuids_are_of_version_4() -> None:
    value = SAMPLES["uuid4"].make_value(2000)
    pattern = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
    others = [
        r[k]
        for name, k in (("contacts", "id"), ("phonebook", "guid"))
        for r in SAMPLES[name].make_value(50)
    ]
    assert all(map(pattern.fullmatch, [*value, *others]))
    assert set(value.values()) == set(range(8))
    assert {key[19] for key in value} == set("89ab")


def test_field_is_smooth_with_noise() -> None:
    cube = SAMPLES["field3d"].make_value(48).astype(float)
    span = cube.max() - cube.min()
    for axis in range(3):
        step, bend = np.diff(cube, axis=axis), np.diff(cube, n=2, axis=axis)
        assert 0.001 < abs(step).mean() / span < 0.02
        assert 0 < abs(bend).mean() < abs(step).mean() / 5
    # In units of 2**-16 the values are whole, and their last bits are noise.
    whole = cube * 2**16
    assert np.array_equal(whole, np.round(whole))
    last = np.bincount(whole.astype(int).ravel() & 255, minlength=256)
    assert last.min() > 0.75 * whole.size / 256


LIMITED = [name for name in SAMPLES if name != "target-object"]


@pytest.mark.parametrize("name", LIMITED)
def test_no_compressor_beats_the_limit(name: str) -> None:
    """And the limit is not far below what one reaches."""
    sample = SAMPLES[name]
    n = {
        "field3d": 24,
        "field3d-fortran": 24,
        "dna": 30_000,
        "protein": 30_000,
        "phonebook": 400,
    }.get(name, 1500)
    limit = sample.limit(n)
    assert limit is not None
    assert limit.why
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 4, "lp": 0}]
    size = len(lzma.compress(sample.make_file(n), lzma.FORMAT_RAW, filters=filters))
    assert limit.size < size < 3 * limit.size


def test_what_has_no_limit_says_so() -> None:
    assert SAMPLES["target-object"].limit(1000) is None


@pytest.mark.parametrize(
    ("name", "n", "bits"),
    [
        ("uuid4", 1000, 1000 * (122 + 3)),
        ("dna", 4000, 8000),
        ("protein", 4000, 4000 * 4.321928),
        ("random", 1234, 8 * 1234),
        # 32 bits, a double's 53, cents, eight letters, one of 8, one of 2, one of 100.
        ("documents", 777, 777 * (32 + 53 + log2(10**5) + 8 * log2(26) + 3 + 1 + log2(100))),
        ("field3d", 10, 8 * 1000),
    ],
)
def test_limit_is_the_entropy(name: str, n: int, bits: float) -> None:
    limit = SAMPLES[name].limit(n)
    assert limit is not None
    assert 8 * limit.size == pytest.approx(bits, rel=1e-6)


def _contact_bits(record: dict[str, Any]) -> float:
    """Counted from what the record shows."""
    choices = (
        *(800, 800, 73, 10**6),  # first and last name, age, cents
        *(800, 800, 10_000),  # of the phone number, all digits but those of the next line
        *(800, 800, 999, 400, 800, 90_000),  # email, address
        *(16, 12, 28, 24, 60, 60, 2),  # date and time, active
        *(5, 180 * 10**6, 360 * 10**6),  # how many tags, where
    )
    return 122 + sum(map(log2, choices)) + len(record["tags"]) * log2(800)


def _phonebook_bits(record: dict[str, Any]) -> float:
    sentences = record["about"].strip().rstrip(".").split(". ")
    words = sum(len(sentence.split()) for sentence in sentences)
    name = (2, 64, 32, 16)
    choices = (
        *(2, 300_001, 21, 3),  # active, balance, age, eyes
        *(*name, 32, 16),  # with the gender, company
        *(200, 200, 2000),  # phone
        *(900, 32, 8, 32, 8, len(_words.STATES), 9901),  # address
        *(7, *[18] * len(sentences), *[62] * words),  # sentences, the words of each, words
        *(12, 12, 28, 24, 60, 60, 2),  # date, time and zone
        *(180 * 10**6, 360 * 10**6),
        *([62] * 7),  # tags
        *(*name, *name, *name),  # friends
        *(10, 3),  # greeting, fruit
    )
    return 96 + 122 + sum(map(log2, choices))


@pytest.mark.parametrize(
    ("name", "bits"), [("contacts", _contact_bits), ("phonebook", _phonebook_bits)]
)
def test_limit_grows_by_the_bits_of_a_record(name: str, bits: Any) -> None:
    """Apart from what is drawn for all records together."""
    sample = SAMPLES[name]
    few, many = sample.limit(10), sample.limit(60)
    assert few is not None
    assert many is not None
    expected = sum(map(bits, sample.make_value(60)[10:])) / 8
    assert many.size - few.size == pytest.approx(expected, rel=1e-9)


def test_limit_of_many_records_is_estimated_well(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("contacts", "phonebook"):
        estimated = SAMPLES[name].limit(5000)
        with monkeypatch.context() as patch:
            patch.setattr(_draw, "_COUNTED", 5000)
            counted = SAMPLES[name].limit(5000)
        assert estimated is not None
        assert counted is not None
        assert estimated != counted
        assert estimated.size == pytest.approx(counted.size, rel=0.01)


def test_words_are_told_apart() -> None:
    """Or what is drawn would be more than what is seen."""
    for heads, tails in (_words.SURNAMES, _words.COMPANIES, _words.CITIES, _words.STREETS):
        joined = {(head + tail).lower() for head in heads for tail in tails}
        assert len(joined) == len(heads) * len(tails)
    first_names = [name for names in _words.FIRST_NAMES.values() for name in names]
    for words in (_words.LOREM, _words.STATES, first_names):
        assert len(set(words)) == len(words)
    contacts = SAMPLES["contacts"].make_value(5000)
    assert len({tag for record in contacts for tag in record["tags"]}) == 800


@pytest.mark.parametrize(
    ("text", "name", "n"),
    [
        ("contacts", "contacts", 60_000),
        ("contacts:7", "contacts", 7),
        ("uuid4:262_144", "uuid4", 262_144),
        ("random:1M", "random", 1 << 20),
        ("random:100", "random", 100),
        ("messages:2KiB", "messages", 2048),
        ("field3d-fortran:8", "field3d-fortran", 8),
    ],
)
def test_parse(text: str, name: str, n: int) -> None:
    assert parse_sample(text) == (SAMPLES[name], n)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("contact", "unknown sample 'contact'; did you mean contacts?"),
        ("feild3d:8", "did you mean field3d"),
        ("", "known: uuid4, phonebook, "),
        ("zzzz", "known: uuid4, phonebook, "),
        ("Contacts:xx:3", "did you mean contacts"),
    ],
)
def test_unknown_sample(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        parse_sample(text)


@pytest.mark.parametrize(
    "count", ["", "0", "-1", "+1", "1.5", "x", "60K", "1e3", " 5", "٣", "1:2", "_", "9" * 5000]
)
def test_bad_n(count: str) -> None:
    with pytest.raises(UsageError, match="it counts records, as in contacts:60000"):
        parse_sample(f"contacts:{count}")


@pytest.mark.parametrize("count", ["", "0", "0.2", "-1K", "x", "1X", "9" * 400 + ".5"])
def test_bad_size(count: str) -> None:
    with pytest.raises(UsageError, match="it counts bytes, as in random:1000000"):
        parse_sample(f"random:{count}")


def data(*args: str | Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "benchmarks.data", *map(str, args)], cwd=ROOT, capture_output=True
    )


def test_written_by_the_benchmarks(tmp_path: Path) -> None:
    """To a file and to standard output; and contacts by size are those of the sample."""
    assert data("sample", "field3d:9", tmp_path / "field.npy").returncode == 0
    assert (tmp_path / "field.npy").read_bytes() == SAMPLES["field3d"].make_file(9)
    lines = data("contacts", "--size", "8000", "-").stdout
    assert lines == SAMPLES["contacts"].make_file(len(lines.splitlines()))
    assert 8000 <= len(lines) < 8600
    wrong = data("sample", "contact", "-")
    assert wrong.returncode == 2
    assert b"did you mean contacts?" in wrong.stderr
