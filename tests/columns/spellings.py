"""Texts of like records in any spelling: what stands in them is drawn, not what they mean."""

from __future__ import annotations

import random
import re
import uuid
from collections.abc import Callable

from hypothesis import strategies as st

from tests.columns.test_shape import values

#: Gives the spelling of a value, or of more, in the n-th record.
Make = Callable[[int, random.Random], bytes]

NUMBERS = st.from_regex(
    re.compile(rb"-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,20})?([eE][-+]?[0-9]{1,3})?"), fullmatch=True
)
_ESCAPES = st.from_regex(re.compile(rb'\\(["\\/bfnrt]|u[0-9a-fA-F]{4})'), fullmatch=True)
_LETTERS = st.text(st.characters(exclude_characters='"\\', exclude_categories=["Cc", "Cs"]))
STRINGS = st.lists(st.one_of(_LETTERS.map(str.encode), _ESCAPES), max_size=4).map(
    lambda parts: b'"%b"' % b"".join(parts)
)
_LITERALS = st.sampled_from([b"null", b"true", b"false", b"[]", b"{}", b"[ ]", b'""'])

#: Columns that have encodings of their own.
SERIES: list[Make] = [
    lambda n, _: b"%d" % n,
    lambda n, r: b"%d.%02d" % (n * n % 97, r.randrange(100)),
    lambda n, _: repr(n / 7).encode(),
    lambda n, _: b'"%05d"' % n,
    lambda _, r: b'"%b"' % str(uuid.UUID(int=r.getrandbits(128))).encode(),
    lambda n, _: b'"2024-02-%02dT%02d:00Z"' % (n // 24 % 28 + 1, n % 24),
    lambda n, r: b'"%d Elm Street, %b"' % (n, r.choice([b"Ayr", b"Bude"])),
    lambda _, r: b'"%b"' % b" ".join(r.choices([b"to", b"be,", b"or", b"not", b"\\u00e9"], k=9)),
]

#: White space inside of a line.
_BLANKS = st.sampled_from([b"", b"", b"", b" ", b"  ", b"\t"])


def _filled(parts: list[bytes | Make]) -> Make:
    def make(n: int, r: random.Random) -> bytes:
        return b"".join(part if isinstance(part, bytes) else part(n, r) for part in parts)

    return make


def _one_of(pool: list[bytes]) -> Make:
    return lambda _, r: r.choice(pool)


def _repeated(item: Make, between: bytes, most: int) -> Make:
    return lambda n, r: between.join(item(n, r) for _ in range(r.randint(0, most)))


def _optional(part: Make, share: float) -> Make:
    return lambda n, r: part(n, r) if r.random() < share else b""


@st.composite
def _values(draw: st.DrawFn, blanks: st.SearchStrategy[bytes], depth: int = 0) -> Make:
    kind = draw(st.sampled_from(["series", "pool", "map", "list"][: 4 if depth < 3 else 2]))
    if kind == "series":
        return draw(st.sampled_from(SERIES))
    if kind == "pool":
        spellings = draw(
            st.sampled_from([NUMBERS, STRINGS, st.one_of(NUMBERS, STRINGS, _LITERALS)])
        )
        return _one_of(draw(st.lists(spellings, min_size=1, max_size=6)))
    if kind == "list":
        item = _filled([draw(blanks), draw(_values(blanks, depth + 1)), draw(blanks)])
        return _filled([b"[", _repeated(item, b",", draw(st.sampled_from([1, 3]))), b"]"])
    return draw(_maps(blanks, depth))


@st.composite
def _maps(draw: st.DrawFn, blanks: st.SearchStrategy[bytes], depth: int = 0) -> Make:
    parts: list[bytes | Make] = [b"{"]
    for at in range(draw(st.integers(0, 4))):
        # The same key twice is a spelling too.
        key = draw(st.one_of(st.sampled_from([b'"a"', b'"b"', b'"\\u0061"']), STRINGS))
        before = [b"," * bool(at), draw(blanks), key, draw(blanks), b":", draw(blanks)]
        member = _filled([b"".join(before), draw(_values(blanks, depth + 1)), draw(blanks)])
        parts.append(_optional(member, 0.8) if at and draw(st.booleans()) else member)
    return _filled([*parts, b"}"])


@st.composite
def records(draw: st.DrawFn, blanks: st.SearchStrategy[bytes] = _BLANKS) -> list[bytes]:
    """Records of one kind or two, and odd ones among them."""
    kinds = draw(st.lists(st.one_of(_maps(blanks), _values(blanks)), min_size=1, max_size=2))
    r = random.Random(draw(st.integers(0, 99)))
    depth = draw(st.sampled_from([0, 0, 0, 0, 20, 501]))
    number = draw(st.sampled_from([1, 3, 12, 40])) if depth < 100 else 2
    found = [b'{"d":' * depth + r.choice(kinds)(n, r) + b"}" * depth for n in range(number)]
    for odd in draw(st.lists(values, max_size=2)):
        found.insert(draw(st.integers(0, len(found))), odd)
    return found


@st.composite
def ndjson_texts(draw: st.DrawFn) -> bytes:
    """Lines, mostly of one record each; blank ones, and a last one that does not end."""
    ends = draw(
        st.lists(st.sampled_from([b"\n", b"\n", b"\r\n", b"\n\n", b" \r\n\t\n"]), min_size=1)
    )
    lines = [line + ends[n % len(ends)] for n, line in enumerate(draw(records()))]
    text = draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf", b"\n"])) + b"".join(lines)
    return text.rstrip(b"\r\n\t ") if draw(st.booleans()) else text


@st.composite
def json_texts(draw: st.DrawFn) -> bytes:
    """An array or a map, or something near it."""
    blanks = st.sampled_from([b"", b"", b" ", b"\n  ", b"\r\n\t"])
    found = draw(records(blanks))
    blank = draw(blanks)
    opening, closing = draw(st.sampled_from([(b"[", b"]"), (b"[", b"]"), (b"{", b"}")]))
    if opening == b"{":
        # All keys of a kind are different, or all the same.
        key, different = draw(st.sampled_from([b'"%032x"', b'"k%d"'])), draw(st.booleans())
        found = [
            key % (n * n * different) + blank + b":" + record for n, record in enumerate(found)
        ]
    text = (b"," + blank).join(found)
    mark = draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf"]))
    return mark + blank + opening + blank + text + blank + closing + draw(blanks)
