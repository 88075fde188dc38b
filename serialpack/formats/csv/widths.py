"""How many fields the first rows of a text have, by which its delimiter is told."""

from serialpack.formats.csv.tokens import fields
from serialpack.formats.shared.document import Malformed

#: So many of the first rows tell.
ROWS = 100


def fits(text: str, delimiter: str) -> int:
    """2: all rows have one number of fields, more than one; 1: so have those before a quote that
    is out of place; 0: they have not."""
    rows, sound = widths(text, delimiter)
    several = set(filter(None, rows))
    return (1 + sound) * (len(several) == 1 and max(several) > 1)


def widths(text: str, delimiter: str) -> tuple[list[int], bool]:
    """How many fields each of the first rows has, a blank line none, and whether no quote is out
    of place in them."""
    found, width = list[int](), 0
    try:
        for field in fields(text, delimiter):
            width += 1
            if field.end == delimiter:
                continue
            found.append(width if width > 1 or field.raw else 0)
            width = 0
            if len(found) == ROWS:
                break
    except Malformed:
        return found, False
    return found, True
