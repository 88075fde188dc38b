"""What a few bytes cost, whatever they say: lengths that lie, nesting, references, huge numbers."""

from __future__ import annotations

import io
from contextlib import suppress
from random import Random

import pytest

import serialpack
from serialpack.errors import SerialpackError
from tests.formats.work import TooManyLinesError, lines_run

# Of work: the same under every Python.
pytestmark = pytest.mark.slow

#: Lines of Python for any source of up to 300 bytes.
MOST = 20_000

#: Beginnings, which are put together at random: what is long where it is short, deep, or refers.
PIECES: dict[str, list[bytes]] = {
    "cbor": [
        *(b"\x9b\x00\x00\x00\x00\xff\xff\xff\xff", b"\xbb" + b"\xff" * 8, b"\x5b" + b"\x7f" * 8),
        *(b"\x9f" * 40, b"\x81" * 60, b"\xa1\x01" * 30, b"\xff", b"\x01", b"\x63abc"),
        *(b"\xc4\x82\x1a\x7f\xff\xff\xff\x01", b"\xc5\x82\x3a\x7f\xff\xff\xff\x01"),
        *(b"\xc2\x58\xc0" + b"\xff" * 192, b"\xd8\x1c\x82\xd8\x1d\x00\xd8\x1d\x00"),
        *(
            b"\xd8\x1c\x82\xd8\x1d\x00\xd8\x1d\x00\x62\xc3\x28",
            b"\xd8\x1c" * 10,
            b"\xd8\x23\x67(a+)+b$",
            b"\xd9\x01\x02\x82\x01\x01",
            b"\xa2\x01\x02\x01\x02",
        ),
    ],
    "msgpack": [
        *(b"\xdd\xff\xff\xff\xff", b"\xdf\xff\xff\xff\xff", b"\xc6\x7f\xff\xff\xff", b"\x91" * 60),
        *(b"\x81\x01" * 40, b"\xc7\x0c\xff" + b"\xff" * 12, b"\xd6\xff\x00\x00\x00\x00"),
        *(b"\xc0", b"\x93\x01\x02", b"\x82\xa1a\x01\xa1a\x02", b"\xa3abc", b"\xcb" + b"\x7f" * 8),
    ],
    "pickle": [
        *(
            b"\x80\x04]" + b"2\x86" * 120 + b".",
            b"]q\x00(h\x00h\x00e.",
            b"\x80\x04\x8a\xc8" + b"\xff" * 200 + b".",
        ),
        *(
            b"\x80\x04\x8e" + b"\x7f" * 8,
            b"\x80\x04" + b"]" * 200,
            b"\x80\x04K\x01.",
            b"(lp0\nI1\na.",
        ),
        *(b"r\xff\xff\xff\x7f", b"N" * 100 + b".", b"\x80\x04}(K\x01K\x02K\x01K\x03u."),
    ],
    "bson": [
        *(
            b"\x10\x00\x00\x00\x10a\x00\x01\x00\x00\x00",
            b"\x0c\x00\x00\x00\x10a\x00\x01\x00\x00\x00\x00",
        ),
        *(b"\xff\xff\xff\x7f", b"\x03a\x00\x08\x00\x00\x00" * 20, b"\x05\x00\x00\x00\x00", b"\x00"),
    ],
}


def _sources(name: str, count: int) -> list[bytes]:
    random = Random(name)
    made = [b"".join(random.choices(PIECES[name], k=random.randrange(1, 6))) for _ in range(count)]
    return [*PIECES[name], *(data[:300] for data in made)]


def _convert(data: bytes, name: str, to: str, lossy: tuple[str, ...]) -> None:
    with suppress(SerialpackError):
        serialpack.convert(
            io.BytesIO(data), io.BytesIO(), to=to, format=name, threads=1, lossy=lossy
        )


@pytest.mark.parametrize("name", PIECES)
def test_a_few_bytes_cost_little(name: str) -> None:
    """With --lossy, 60 bytes of CBOR, an array that refers to itself twice, never ended."""
    for number, data in enumerate(_sources(name, 24)):
        to = ("json", "msgpack", "cbor", "csv")[number % 4]
        for lossy in ((), ("all",)):
            if number < 4:  # which load what they need
                _convert(b"\x01", name, to, lossy)
            try:
                lines_run(_convert, data, name, to, lossy, most=MOST)
            except TooManyLinesError:
                pytest.fail(f"{data.hex()} to {to} with {lossy or 'nothing'} lost takes too long")
