"""Invented phone-book entries of about 2.5 kB with much prose, as JSON Generator makes them.

The fields are those of the template that json-generator.com shows first, and so is the layout of
the file: two spaces a level.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from serialpack.bench.results import Entropy
from serialpack.bench.samples import _words
from serialpack.bench.samples._draw import Draw, entropy
from serialpack.bench.samples.base import BLOSC_TABLE, Sample, json_array

_INDENT = 2


def _joined(d: Draw, parts: tuple[list[str], list[str]], between: str = "") -> str:
    return between.join([d.one_of(words) for words in parts])


def _paragraph(d: Draw) -> str:
    sentences = []
    for _ in range(d.between(12, 18)):
        words = d.some_of(_words.LOREM, d.between(6, 23))
        sentences.append(" ".join(words).capitalize())
    return ". ".join(sentences) + ".\r\n"


def _entry(d: Draw, index: int) -> dict[str, Any]:
    gender = d.one_of(("female", "male"))
    first, last = d.one_of(_words.FIRST_NAMES[gender]), _joined(d, _words.SURNAMES)
    company = _joined(d, _words.COMPANIES).upper()
    return {
        "_id": f"{d.bits(96):024x}",
        "index": index,
        "guid": d.uuid4(),
        "isActive": bool(d.bits(1)),
        "balance": f"${d.between(100_000, 400_000) / 100:,.2f}",
        "picture": "http://placehold.it/32x32",
        "age": d.between(20, 40),
        "eyeColor": d.one_of(_words.EYES),
        "name": f"{first} {last}",
        "gender": gender,
        "company": company,
        "email": f"{first}{last}@{company}.com".lower(),
        "phone": f"+1 ({d.between(800, 999)}) {d.between(400, 599)}-{d.between(2000, 3999)}",
        "address": f"{d.between(100, 999)} {_joined(d, _words.STREETS, ' ')}, "
        f"{_joined(d, _words.CITIES)}, {d.one_of(_words.STATES)}, {d.between(100, 10_000)}",
        "about": _paragraph(d),
        "registered": f"{d.between(2014, 2025)}-{d.between(1, 12):02d}-{d.between(1, 28):02d}"
        f"T{d.below(24):02d}:{d.below(60):02d}:{d.below(60):02d} -{d.between(2, 3):02d}:00",
        "latitude": round(d.fraction(180_000_000) * 180 - 90, 6),
        "longitude": round(d.fraction(360_000_000) * 360 - 180, 6),
        "tags": d.some_of(_words.LOREM, 7),
        "friends": [{"id": number, "name": _full_name(d)} for number in range(3)],
        "greeting": f"Hello, {first} {last}! You have {d.between(1, 10)} unread messages.",
        "favoriteFruit": d.one_of(_words.FRUITS),
    }


def _full_name(d: Draw) -> str:
    first = _words.FIRST_NAMES[d.one_of(("female", "male"))]
    return f"{d.one_of(first)} {_joined(d, _words.SURNAMES)}"


def _records(d: Draw) -> Iterator[dict[str, Any]]:
    index = 0
    while True:
        yield _entry(d, index)
        index += 1


def _value(n: int) -> list[dict[str, Any]]:
    return list(islice(_records(Draw()), n))


def _chunks(n: int) -> Iterator[bytes]:
    return json_array(islice(_records(Draw()), n), indent=_INDENT)


def _limit(n: int) -> Entropy:
    return Entropy(entropy(_records, n), "entropy of the ids, names, numbers and words drawn")


SAMPLE = Sample(
    name="phonebook",
    about="invented phone-book entries of about 2.5 kB: ids, addresses, prose, tags, friends",
    default=10_000,
    unit="records",
    mode="object",
    format="json",
    make_value=_value,
    chunks=_chunks,
    limit=_limit,
    table=BLOSC_TABLE,
)
