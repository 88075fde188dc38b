"""Every encoding gives back every column that it takes, and what does not fit it."""

from __future__ import annotations

import base64
import json
import random
import uuid

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serialpack.columns.encodings import DECODERS, ENCODINGS, NAMES, floating, front, integer
from serialpack.columns.encodings.choose import attempt, encode_column
from serialpack.columns.stored.coding import Coded, Context
from serialpack.columns.stored.source import ColumnSource, Stored
from serialpack.columns.stored.streams import effort
from serialpack.columns.texts import Broken, Texts

#: Those that are asked for by name; the others need more than a column.
FORCED = [name for name, encoding in ENCODINGS.items() if encoding.encode is not None]

TO = Context(effort(3), encode_column)


def restored(coded: Coded, texts: Texts) -> list[bytes]:
    streams = [
        Stored(
            stream.coder,
            stream.kind,
            len(stream.raw) if stream.coder < 2 else 0,
            memoryview(stream.stored),
        )
        for stream in coded.streams
    ]

    def earlier(index: int) -> Texts:
        raise Broken(f"no column {index}")

    size = len(texts.data)
    budget = (1 << 16) + 64 * (size + 8 * texts.number)
    source = ColumnSource(coded.description, streams, budget, DECODERS, earlier)
    back = source.column(texts.number, size)
    source.end()
    assert back.number == texts.number
    return back.to_list()


def check(name: str, values: list[bytes]) -> Coded | None:
    texts = Texts.from_list(values)
    coded = attempt(name, texts, TO)
    if coded is not None:
        assert restored(coded, texts) == values
        again = attempt(name, texts, TO)
        assert again is not None
        assert again.description == coded.description
        assert again.streams == coded.streams
    return coded


R = random.Random(7)
WORDS = ["".join(R.choices("abcdefghijklmnop", k=R.randint(2, 9))) for _ in range(90)]

STEPS = [R.choice([1, 1000, 2000, 3000, 4000, 10**9, 10**9 + 7, 10**12]) for _ in range(2000)]

#: Columns as they occur, and the encoding that is meant to hold them without exceptions.
COLUMNS: dict[str, tuple[str, list[bytes]]] = {
    "one value": ("constant", [b"same"] * 50),
    "names": ("dictionary", [R.choice(WORDS).title().encode() for _ in range(500)]),
    "integers": ("integer", [b"%d" % R.randint(-(10**6), 10**6) for _ in range(300)]),
    "large integers": ("integer", [b"%d" % (R.choice([-1, 1]) * (10**18 - 1)) for _ in range(9)]),
    "index": ("integer", [b"%d" % i for i in range(300)]),
    "squares": ("integer", [b"%d" % (i * i) for i in range(300)]),
    "rare steps": ("integer", [b"%d" % n for n in np.cumsum(np.cumsum(STEPS)).tolist()]),
    "few numbers far apart": ("integer", [b"%d" % n for n in STEPS]),
    "zeros before": ("digits", [b"%05d" % R.randint(0, 99999) for _ in range(300)]),
    "eighteen digits": ("digits", [b"%018d" % R.randint(0, 10**18 - 1) for _ in range(30)]),
    "cents": ("decimal", [b"%.2f" % R.uniform(-1000, 1000) for _ in range(300)]),
    "shortest decimals": ("decimal", [repr(round(R.random(), 3)).encode() for _ in range(300)]),
    "no point": (
        "decimal",
        [(b"%.2f" % R.uniform(1, 9)).rstrip(b"0").rstrip(b".") for _ in range(300)],
    ),
    "any digits": ("decimal", [b"%.*f" % (R.randint(1, 5), R.random()) for _ in range(300)]),
    "doubles": ("float", [repr(R.gauss(0, 1e-5)).encode() for _ in range(300)]),
    "doubles in C": ("float", [b"%.17g" % R.gauss(0, 1e-5) for _ in range(300)]),
    "exponents": ("float", [b"%.18e" % R.gauss(0, 1e300) for _ in range(300)]),
    "UUIDs": (
        "fixed",
        [str(uuid.UUID(int=R.getrandbits(128), version=4)).encode() for _ in range(99)],
    ),
    "odd hexadecimal": ("fixed", [b"#%07X" % R.getrandbits(28) for _ in range(300)]),
    "times": (
        "fixed",
        [
            b"2024-03-%02dT%02d:%02d:00Z" % (i // 24 % 28 + 1, i % 24, R.randint(0, 9))
            for i in range(300)
        ],
    ),
    "regular times": (
        "fixed",
        [b"2024-03-%02d %02d:00" % (i // 24 + 1, i % 24) for i in range(600)],
    ),
    "plates": (
        "fixed",
        [b"%c%c-%03d" % (R.choice(b"XYZ"), R.choice(b"GHI"), i) for i in range(200)],
    ),
    "DNA": ("letters", [bytes(R.choices(b"ACGT", k=R.randint(0, 80))) for _ in range(50)]),
    "proteins": ("letters", [bytes(R.choices(b"ACDEFGHIKLMNPQRSTVWY", k=60)) for _ in range(50)]),
    "affixes": ("affix", [f"https://{word}.example/".encode() for word in WORDS]),
    "capitals": ("capitals", [word.title().encode() for word in WORDS]),
    "sorted": ("front", sorted(word.encode() for word in WORDS)),
    "base64": ("base64", [base64.b64encode(R.randbytes(R.randint(0, 40))) for _ in range(60)]),
    "base64 for URLs": (
        "base64",
        [base64.urlsafe_b64encode(R.randbytes(31)).rstrip(b"=") for _ in range(60)],
    ),
    "addresses": (
        "patterns",
        [
            f"{R.randint(1, 999)} {R.choice(WORDS)} Street, {R.randint(0, 99):02d}".encode()
            if R.random() < 0.7
            else f"{R.choice(WORDS)}@{R.choice(WORDS)}.example".encode()
            for _ in range(300)
        ],
    ),
    "prose": (
        "prose",
        [
            (" ".join(R.choices(WORDS, k=R.randint(0, 30))) + R.choice([".", "", " "])).encode()
            for _ in range(200)
        ],
    ),
    "many words": (
        "prose",
        [" ".join(f"w{R.randint(0, 999)}" for _ in range(20)).encode() for _ in range(200)],
    ),
    "texts": ("plain", [R.randbytes(R.randint(0, 30)) for _ in range(200)]),
}

#: What is near to what an encoding holds, and must be kept beside it.
ODD = [
    b"", b" ", b"\x00", b"\xff\xfe", b"\n", b"-0", b"+1", b"00", b"007", b"-", b".", b"1.", b".5",
    b"-0.0", b"0.0", b"1e400", b"1E5", b"1e5", b"nan", b"NaN", b"Infinity", b"-inf", b"1_000",
    b"9" * 30, b"-" + b"9" * 19, b"9223372036854775807", b"9223372036854775808",
    b"-9223372036854775808", b"-9223372036854775809", b"1.2.3", b"0." + b"1" * 40, b"12.50",
    b"null", b"true", b"=", b"A===", b"QQ==", b"QR==", b"Zm9v\n", b"  two  spaces ", "é ü".encode(),
    b"a" * 700, b"a1b2", b"0 a", b"0,0", b"\\u00e9",
]  # fmt: skip


@pytest.mark.parametrize("column", COLUMNS)
def test_meant_for(column: str) -> None:
    """What an encoding is for it holds as a whole."""
    name, values = COLUMNS[column]
    texts = Texts.from_list(values)
    encode = ENCODINGS[name].encode
    assert encode is not None
    fit = encode(texts, TO)
    assert fit is not None
    assert fit.misfits is None
    assert restored(fit.coded, texts) == values


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("name", FORCED)
def test_any_column_in_any_encoding(name: str, column: str) -> None:
    check(name, COLUMNS[column][1])


@pytest.mark.parametrize("column", COLUMNS)
def test_odd_values_among_regular_ones(column: str) -> None:
    """They are kept beside the others, which keep their encoding."""
    name, values = COLUMNS[column]
    values = values.copy()
    for place, odd in enumerate(ODD):
        values.insert(place * 5 % len(values), odd)
    coded = check(name, values)
    takes_all = {"plain", "dictionary"}
    whole_or_nothing = {"affix", "capitals", "front", "letters", "prose"}
    if coded is None:
        assert name in whole_or_nothing
    elif name not in takes_all | whole_or_nothing:
        assert NAMES[coded.description[0]] == "exceptions"


@pytest.mark.parametrize("name", FORCED)
@pytest.mark.parametrize(
    "values",
    [
        [],
        [b""],
        [b"", b"", b""],
        [b"x"],
        [b"7"],
        [b"-7.50"],
        [b"\n", b"\n\n", b""],
        [b"\x00", b"\x00\x00", b"", b"\x00a"],
        [b"a" * 300_000],
        [b"12" * 200, b"1"],
        [b"0" * 18, b"1" * 18],
        ODD,
        ODD * 3,
        [bytes([byte]) for byte in range(256)],
    ],
    ids=lambda values: f"{len(values)}-{len(b''.join(values))}",
)
def test_edges(name: str, values: list[bytes]) -> None:
    check(name, values)


@pytest.mark.parametrize("name", ["letters", "plain"])
def test_a_value_of_less_than_no_bytes_is_refused(name: str) -> None:
    """Though all together have as many as are promised."""
    texts = Texts.from_lengths(np.frombuffer(b"AC\nGT", np.uint8), np.array([-1, 4, 2]))
    encode = ENCODINGS[name].encode
    assert encode is not None
    fit = encode(texts, TO)
    assert fit is not None
    with pytest.raises(Broken, match="an impossible length"):
        restored(fit.coded, texts)


PIECES = st.sampled_from(
    [*ODD[:40], b"1", b"20", b"-3", b"4.5", b"ab", b"Cd", b"EF", b"e", b"T", b":", b"-", b"/", b"@"]
)
VALUES = st.one_of(
    st.binary(max_size=12),
    st.integers(-(2**66), 2**66).map(lambda number: b"%d" % number),
    st.floats().map(lambda number: json.dumps(number).encode()),
    st.decimals(allow_nan=False, allow_infinity=False, places=3).map(lambda d: str(d).encode()),
    st.uuids().map(lambda u: str(u).encode()),
    st.datetimes().map(lambda d: d.isoformat().encode()),
    st.lists(PIECES, max_size=6).map(b"".join),
    st.text(alphabet="ab ,", max_size=9).map(str.encode),
)
LISTS = st.one_of(
    st.lists(VALUES, max_size=40),
    st.sampled_from(
        [
            st.integers(-(2**64), 2**64).map(lambda number: b"%d" % number),
            st.integers(0, 99999).map(lambda number: b"%05d" % number),
            st.decimals(-1000, 1000, places=2).map(lambda d: str(d).encode()),
            st.floats(allow_nan=False).map(lambda number: repr(number).encode()),
            st.uuids().map(lambda u: str(u).encode()),
            st.text(alphabet="abcé ,.\n", max_size=30).map(str.encode),
            st.tuples(st.integers(0, 99), st.sampled_from(["ab", "CD"])).map(
                lambda pair: f"{pair[0]:02d} {pair[1]}-{pair[0]}".encode()
            ),
        ]
    ).flatmap(lambda values: st.lists(st.one_of(values, values, values, PIECES), max_size=60)),
)


@pytest.mark.parametrize("name", FORCED)
@settings(max_examples=60, deadline=None)
@given(values=LISTS)
def test_any_values_in_any_encoding(name: str, values: list[bytes]) -> None:
    check(name, values)


@pytest.mark.parametrize("level", [1, 3, 6, 9])
@settings(max_examples=60, deadline=None)
@given(values=LISTS)
def test_any_values_in_what_is_chosen(level: int, values: list[bytes]) -> None:
    texts = Texts.from_list(values)
    assert restored(encode_column(texts, Context(effort(level), encode_column)), texts) == values


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.floats(allow_nan=False, allow_infinity=False),
            st.sampled_from([1e-4, 9.999e-5, 1e16, 9999999999999998.0, -0.0, 5e-324, 1e22, 0.1]),
            st.floats(1e-5, 1e17),
        ),
        min_size=1,
        max_size=20,
    ),
    st.integers(1, 4),
)
def test_floats_of_any_size(values: list[float], part: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(floating, "_PART", part)
        coded = check("float", [repr(value).encode() for value in values])
    assert coded is not None
    assert NAMES[coded.description[0]] == "float"


@pytest.mark.parametrize("number", [1, 2, 70])
def test_integers_part_by_part(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(integer, "_PART", 2)
    values = [b"%d" % ((-7) ** (at % 21)) for at in range(number)]
    coded = check("integer", values)
    assert coded is not None
    assert NAMES[coded.description[0]] == "integer"


def test_very_long_texts_are_no_prose() -> None:
    words = " ".join(random.Random(5).choices(WORDS, k=200_000)).encode()
    assert check("prose", [words[: 512 << 10]] * 2) is not None
    assert check("prose", [words]) is None


def test_numbers_are_for_ever() -> None:
    """What is written stays readable: numbers of encodings are never changed."""
    names = (
        "plain constant dictionary integer digits decimal exceptions float fixed letters affix "
        "capitals front base64 patterns prose reference follows"
    )
    assert [NAMES[number] for number in range(len(NAMES))] == names.split()


def test_read_only_arrays_are_taken() -> None:
    data = np.frombuffer(b"1020", np.uint8)
    ends = np.array([2, 4])
    ends.flags.writeable = False
    for name in FORCED:
        coded = attempt(name, Texts(data, ends), TO)
        assert coded is None or restored(coded, Texts(data, ends)) == [b"10", b"20"]


@pytest.mark.parametrize("places", [16, 64, 200, 1000])
def test_fronts_are_restored_in_steps(places: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A value may share what stands many values, and some steps, before it."""
    r = random.Random(11)
    values = sorted({bytes(r.choices(b"ab", k=r.randrange(12))) for _ in range(500)})
    values += [b"abcdefghij", *[b"abcdefghij"[: r.randrange(11)] for _ in range(40)], b"abc", b""]
    monkeypatch.setattr(front, "_PLACES", places)
    check("front", values)


def test_few_long_values() -> None:
    """Of so few a sample shows no repeats, and those are found all the same."""
    r = random.Random(12)
    texts = [r.randbytes(1000).hex().encode() for _ in range(100)]
    coded = encode_column(Texts.from_list([r.choice(texts) for _ in range(800)]), TO)
    assert NAMES[coded.description[0]] == "dictionary"
    words = [bytes(r.choices(b"abcdefghij", k=r.randint(2, 9))) for _ in range(150)]
    prose = [b" ".join(r.choices(words, k=200)) for _ in range(500)]
    coded = encode_column(Texts.from_list(prose), TO)
    assert NAMES[coded.description[0]] == "prose"


@pytest.mark.parametrize("at", [100, 1234, 7777])
def test_a_column_that_is_empty_wherever_it_is_looked_at(at: int) -> None:
    """Its mean length is none there, and was divided by."""
    values = [b"rare" if i == at else b"" for i in range(9000)]
    texts = Texts.from_list(values)
    assert restored(encode_column(texts, TO), texts) == values
