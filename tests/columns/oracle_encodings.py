"""The encodings of ``oracle.py``, each by the words of man/spk-columns.5."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable
from itertools import groupby

from tests.columns.oracle import Damaged, Description


def plain(d: Description, number: int) -> list[bytes]:
    mode = d.v("ends", ("one length", "line feeds", "lengths"))
    if mode == 1:
        data = d.raw() if number else b""
        if data.count(b"\n") != number or data[-1:] not in (b"", b"\n"):
            raise Damaged("lines of another number")
        return data.split(b"\n")[:-1]
    lengths = [d.v("length")] * number if mode == 0 else d.counts("lengths", number)
    return cut(d.raw() if any(lengths) else b"", lengths)


def cut(data: bytes, lengths: list[int]) -> list[bytes]:
    """``data`` in values of these lengths."""
    if sum(lengths) != len(data):
        raise Damaged("values of another length")
    at = 0
    values = []
    for length in lengths:
        values.append(data[at : at + length])
        at += length
    return values


def constant(d: Description, number: int) -> list[bytes]:
    return [d.counted("value")] * number


def dictionary(d: Description, number: int) -> list[bytes]:
    count = d.v("entries")
    entries = d.column(count)
    return [entries[code] for code in d.codes("codes", count, number)]


def in_range(numbers: list[int], digits: int = 18) -> list[int]:
    if any(abs(number) >= 10**digits for number in numbers):
        raise Damaged("a number of too many digits")
    return numbers


def integer(d: Description, number: int) -> list[bytes]:
    return [b"%d" % each for each in in_range(d.numbers("numbers", number))]


def digits(d: Description, number: int) -> list[bytes]:
    width = d.v("width")
    return [b"%0*d" % (width, each) for each in in_range(d.counts("numbers", number), width)]


def decimal(d: Description, number: int) -> list[bytes]:
    rule = d.v("digits behind the point", ("all", "zeros dropped to one", "zeros dropped", "told"))
    scale = d.v("scale")
    if scale > 18:
        raise Damaged("a scale beyond 18")
    numbers = in_range(d.numbers("numbers", number))
    told = iter(d.counts("digits", number) if rule == 3 else [])
    values = []
    for each in numbers:
        whole, part = divmod(abs(each), 10**scale)
        behind = b"%0*d" % (scale, part) if scale else b""
        if rule == 1:
            behind = behind.rstrip(b"0") or behind[:1]
        elif rule == 2:
            behind = behind.rstrip(b"0")
        elif rule == 3:
            behind = behind[: next(told)]
        sign = b"-" if each < 0 else b""
        values.append(sign + b"%d" % whole + (b"." + behind if behind else b""))
    return values


def exceptions(d: Description, number: int) -> list[bytes]:
    odd = d.places(number)
    return d.merged(d.column(number - sum(odd)), odd)


FORMATS = ("shortest", "%.17g", "%.16g", "%.15g", "%.16e", "%.17e", "%.18e")


def floats(d: Description, number: int) -> list[bytes]:
    form = d.v("format", FORMATS)
    found = d.array("doubles", number) if number else []
    if not all(map(math.isfinite, found)):
        raise Damaged("a double that is no number")
    return [(FORMATS[form] % each if form else repr(each)).encode() for each in found]


def fixed(d: Description, number: int) -> list[bytes]:
    kinds = d.counted("kinds")
    same = d.counted("always there")
    if not 0 < len(kinds) <= 256 or max(kinds) > 4 or len(same) != kinds.count(0):
        raise Damaged("a shape that is none")
    always = iter(same)
    fields: list[tuple[int, int]] = []
    for kind, run in groupby(kinds):
        size = len(list(run))
        step = 18 if kind == 1 else size
        fields += [(kind, min(step, size - at)) for at in range(0, size, step)]
    widths = [size for kind, size in fields if kind == 1]
    runs = iter(_runs(d, widths, number))
    texts = iter([d.column(number) for kind, _ in fields if kind == 4])
    halves = iter(_halves(d, sum(kind in (2, 3) for kind in kinds), number))
    rows = [b""] * number
    for kind, size in fields:
        if kind == 0:
            parts = [bytes(next(always) for _ in range(size))] * number
        elif kind == 1:
            parts = [b"%0*d" % (size, each) for each in in_range(next(runs), size)]
        elif kind == 4:
            parts = next(texts)
        else:
            form = b"%x" if kind == 2 else b"%X"
            each = [next(halves) for _ in range(size)]
            parts = [b"".join(form % half[row] for half in each) for row in range(number)]
        if any(len(part) != size for part in parts):
            raise Damaged("a part of another length")
        rows = [row + part for row, part in zip(rows, parts, strict=True)]
    return rows


def _runs(d: Description, widths: list[int], number: int) -> list[list[int]]:
    if not widths:
        return []
    if d.v("runs of digits", ("apart", "as one number")) == 0:
        return [d.counts("digits", number) for _ in widths]
    ranges = [(d.v("least", most=2**62), d.v("how many", most=2**62)) for _ in widths]
    rest = d.numbers("all digits", number)
    found = []
    for least, count in reversed(ranges):
        if not count:
            raise Damaged("a field of no numbers")
        found.append([each % count + least for each in rest])
        rest = [each // count for each in rest]
    return found[::-1]


def _halves(d: Description, places: int, number: int) -> list[list[int]]:
    sets = [d.v("digits that occur") for _ in range(places)]
    if max(sets, default=0) > 0xFFFF:
        raise Damaged("digits that are none")
    found: list[list[int] | None] = []
    for there in sets:
        table = [half for half in range(16) if there >> half & 1]
        codes = d.codes("which of these", len(table), number) if there else None
        found.append(None if codes is None else [table[code] for code in codes])
    full = sets.count(0)
    if full:
        pairs = -(-full // 2)
        by_pair = d.v("pairs", ("value by value", "pair by pair"))
        raw = d.raw()
        if len(raw) != pairs * number:
            raise Damaged("digits of another length")
        columns = [
            raw[pair * number : (pair + 1) * number] if by_pair else raw[pair::pairs]
            for pair in range(pairs)
        ]
        split = iter([[byte >> s & 15 for byte in column] for column in columns for s in (4, 0)])
        found = [next(split) if half is None else half for half in found]
    return [half for half in found if half is not None]


def letters(d: Description, number: int) -> list[bytes]:
    alphabet = d.counted("alphabet")
    lengths = d.counts("lengths", number)
    codes = d.codes("letters", len(alphabet), sum(lengths))
    return cut(bytes(alphabet[code] for code in codes), lengths)


def affix(d: Description, number: int) -> list[bytes]:
    start, stop = d.counted("start"), d.counted("end")
    return [start + value + stop for value in d.column(number)]


def capitals(d: Description, number: int) -> list[bytes]:
    values = d.column(number)
    if not all(values):
        raise Damaged("no letter where a capital was")
    return [bytes([value[0] ^ 32]) + value[1:] for value in values]


def front(d: Description, number: int) -> list[bytes]:
    shared = d.counts("shared with the one before", number)
    values: list[bytes] = []
    for size, rest in zip(shared, d.column(number), strict=True):
        if size > (len(values[-1]) if values else 0):
            raise Damaged("a value shares more than there is")
        values.append((values[-1][:size] if size else b"") + rest)
    return values


def base_64(d: Description, number: int) -> list[bytes]:
    style = d.v("style", ("usual", "for URLs", "usual, bare", "for URLs, bare"))
    write = base64.urlsafe_b64encode if style & 1 else base64.b64encode
    values = [write(value) for value in d.column(number)]
    return [value.rstrip(b"=") for value in values] if style & 2 else values


def patterns(d: Description, number: int) -> list[bytes]:
    shapes = [d.counted("pattern") for _ in range(d.v("patterns"))]
    codes = d.codes("which", len(shapes), number)
    rows = []
    for code, shape in enumerate(shapes):
        count = codes.count(code)
        parts = [d.column(count) if byte in b"0a" else [bytes([byte])] * count for byte in shape]
        rows.append(iter([b"".join(part[at] for part in parts) for at in range(count)]))
    return [next(rows[code]) for code in codes]


def prose(d: Description, number: int) -> list[bytes]:
    count = d.v("entries")
    mark = next((m for m in range(256, 127, -1) if m + (256 - m) * m >= count), 0)
    if not mark:
        raise Damaged("more entries than codes")
    entries = d.column(count)
    counts = d.counts("entries of each value", number)
    raw = iter(d.raw())
    codes = []
    for byte in raw:
        codes.append(byte if byte < mark else mark + (byte - mark) * mark + next(raw))
    if len(codes) != sum(counts) or not all(entries):
        raise Damaged("entries of another number")
    told = iter([entries[code] for code in codes])
    values = []
    for many in counts:
        words = [next(told) for _ in range(many)]
        value = b""
        for at, word in enumerate(words):
            between = at and is_word(word) and is_word(words[at - 1])
            value += b" " + word if between else word
        values.append(value)
    return values


def is_word(entry: bytes) -> bool:
    return entry[:1].isalnum() or entry[0] >= 128


def reference(d: Description, number: int) -> list[bytes]:
    values = leader(d, number)
    odd = d.places(number)
    return d.merged([value for value, is_odd in zip(values, odd, strict=True) if not is_odd], odd)


def follows(d: Description, number: int) -> list[bytes]:
    values = leader(d, number)
    different = list(dict.fromkeys(values))
    told = dict(zip(different, d.column(len(different)), strict=True))
    odd = d.places(number)
    kept = [told[value] for value, is_odd in zip(values, odd, strict=True) if not is_odd]
    return d.merged(kept, odd)


def leader(d: Description, number: int) -> list[bytes]:
    values = d.earlier(d.v("column"))
    if len(values) != number or d.depth != 1:
        raise Damaged("a column refers to one that it cannot")
    return values


Decoder = Callable[[Description, int], list[bytes]]
ENCODINGS: dict[int, tuple[str, Decoder]] = {
    0: ("plain", plain),
    1: ("constant", constant),
    2: ("dictionary", dictionary),
    3: ("integer", integer),
    4: ("digits", digits),
    5: ("decimal", decimal),
    6: ("exceptions", exceptions),
    7: ("float", floats),
    8: ("fixed", fixed),
    9: ("letters", letters),
    10: ("affix", affix),
    11: ("capitals", capitals),
    12: ("front", front),
    13: ("base64", base_64),
    14: ("patterns", patterns),
    15: ("prose", prose),
    16: ("reference", reference),
    17: ("follows", follows),
}
