"""How programs write doubles: the shortest digits that tell one from all others, and an exponent
where a number is far from 1, each in its own way."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

#: Up to here all integers are doubles.
EXACT = 1 << 53

#: From here on Python writes no exponent; between these none of the conventions does.
_PLAIN, ALL_PLAIN = 1e-4, (1e-3, 1e5)

#: The style of C's ``%.17g``: all the digits that a double may need.
FULL = "g17"

#: What R writes with an exponent, and Python without: where that makes it shorter.
R_SHORTER = r"^-?(0\.000[1-9]|[1-9]0{5,}|[1-9][0-9]*0{6,})$"


class Convention(NamedTuple):
    """One way to write them.

    ``least``, ``most``: the powers of ten between which there is no exponent. ``exponent``: the
    format of one. ``whole``: what is written behind a whole number, ``one`` behind a single digit
    before an exponent. ``shorter``: there is an exponent wherever that makes the text shorter.
    """

    least: int
    most: int
    exponent: str
    whole: str = ""
    one: str = ""
    shorter: bool = False

    def text(self, of_python: str) -> str:
        """A number, not 0, as Python writes it, in this way."""
        sign = "-" if of_python[0] == "-" else ""
        digits, power = _digits(of_python[len(sign) :])
        if not self._is_plain(len(digits), power):
            fraction = f".{digits[1:]}" if digits[1:] else self.one
            return f"{sign}{digits[0]}{fraction}{self.exponent.format(power)}"
        if power < 0:
            return f"{sign}0.{'0' * (-power - 1)}{digits}"
        whole, fraction = digits[: power + 1].ljust(power + 1, "0"), digits[power + 1 :]
        # Other integers of so many digits are no doubles: a point tells that this is one.
        behind = f".{fraction}" if fraction else self.whole or ".0" * (int(whole) > EXACT)
        return f"{sign}{whole}{behind}"

    def _is_plain(self, count: int, power: int) -> bool:
        if not self.shorter:
            return self.least <= power <= self.most
        width = power + 1 if 0 <= count - 1 <= power else count + 1 - min(power, 0)
        return width <= count + (count > 1) + len(self.exponent.format(power))


#: By their names as styles. Each is tried beside the others on the cells of a column.
CONVENTIONS = {
    "arrow": Convention(-6, 9, "e{:+d}"),
    "c6": Convention(-4, 5, "e{:+03d}"),  # printf's %g, C++'s streams, awk
    "dotnet": Convention(-4, 14, "E{:+03d}"),
    "ecmascript": Convention(-6, 20, "e{:+d}"),
    "java": Convention(-3, 6, "E{:d}", ".0", ".0"),  # also Scala, Spark
    "json": Convention(-5, 15, "e{:d}", ".0"),  # msgspec, which this project writes JSON with
    "polars": Convention(-5, 15, "e{:+d}", ".0"),  # also orjson
    "postgresql": Convention(-4, 14, "e{:+03d}"),  # also printf's %.15g
    "r": Convention(-3, 4, "e{:+03d}", shorter=True),
    "sqlite": Convention(-4, 14, "e{:+03d}", ".0", ".0"),
}


def _digits(text: str) -> tuple[str, int]:
    """The digits of a number above 0 as Python writes it, without zeros around them, and the power
    of ten of the first."""
    mantissa, _, exponent = text.partition("e")
    whole, _, fraction = mantissa.partition(".")
    power = len(whole) - 1 + int(exponent or 0)
    digits = (whole + fraction).lstrip("0")
    return digits.rstrip("0"), power - (len(whole + fraction) - len(digits))


def texts_of(values: Sequence[float], name: str) -> list[str]:
    """Doubles as the convention of this name writes them."""
    convention = CONVENTIONS[name]
    low = max(_PLAIN, 10.0**convention.least)
    high = min(float(EXACT), 10.0 ** (convention.most + 1))
    texts = list(map(repr, values))
    if not convention.whole:  # the integer -0 would be 0
        texts = [t[:-2] if t[-2:] == ".0" and t != "-0.0" else t for t in texts]
    for number, value in enumerate(values):
        if value and not low <= abs(value) < high and isfinite(value):
            texts[number] = convention.text(repr(value))
    return texts


def without_exponent(low: float, high: float) -> set[str]:
    """The conventions that write none in numbers so far from 0."""
    return {
        name
        for name, each in CONVENTIONS.items()
        if 10.0**each.least <= low and high < 10.0 ** (each.most + 1)
    }
