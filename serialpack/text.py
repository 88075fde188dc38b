"""Text that people are shown: names escaped, commands quoted, columns aligned; and names that
systems know."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence


def printable(text: str) -> str:
    """``text`` with everything that is not a plain visible character escaped.

    Names come from files that anyone may have made; control characters, bidirectional marks
    and bytes that are no Unicode would act on the terminal.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escape(c) for c in text)


def _escape(char: str) -> str:
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is no UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return char.encode("unicode_escape", "surrogatepass").decode("ascii")


def quoted(word: str) -> str:
    """``word`` as it is typed in a shell. What no terminal shows is escaped (``$'...'``, POSIX
    2024)."""
    if word.isprintable():
        import shlex  # not above: few lines have a command in them

        return shlex.quote(word)
    plain = frozenset(range(0x20, 0x7F)) - frozenset(b"'\\")
    try:
        data = word.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # no name of a file: half a character, as JSON can have
        data = word.encode("utf-8", "surrogatepass")
    return "$'" + "".join(chr(b) if b in plain else f"\\x{b:02x}" for b in data) + "'"


def command_line(words: Iterable[str]) -> str:
    """The command of ``words``, as it is typed in a shell."""
    return " ".join(map(quoted, words))


def named_here(path: str) -> str:
    """``path`` spelled as Python finds the file whose name it is in UTF-8.

    Where the system's own encoding lacks a letter (ASCII, of the C locale), Python spells the bytes
    of that letter as surrogates.
    """
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return os.fsdecode(path.encode("utf-8", "surrogateescape"))
    return path


def number_of(count: int, one: str, many: str = "") -> str:
    """``1 file``, ``2,345 files``: a count with its noun. ``many``: the plural of ``one``, by
    default that with an s."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


#: Begin with a vowel when they are said, letter by letter.
_SPELT = ("hdf5", "mrc", "ndjson", "npy", "npz", "sqlite", "xml")


def with_article(word: str) -> str:
    """``a CSV``, ``an NDJSON``: the name of a format, or of a type, with its article."""
    begins = word.lower()
    return f"{'an' if begins.startswith((*'aeio', 'ndarray', *_SPELT)) else 'a'} {word}"


def aligned(lines: Sequence[Sequence[str]], right: Sequence[int] = ()) -> list[str]:
    """``lines`` of cells as lines of text, with two spaces between columns.

    ``right``: numbers of the columns that are aligned to the right. A line may have fewer cells
    than the others.
    """
    return list(each_aligned(lambda: lines, right))


def each_aligned(
    lines: Callable[[], Iterable[Sequence[str]]], right: Sequence[int]
) -> Iterator[str]:
    """As ``aligned``, one by one; ``lines`` is called twice: first for how wide columns are."""
    widths: list[int] = []
    for line in lines():
        widths += [0] * (len(line) - len(widths))
        for i, cell in enumerate(line):
            if len(cell) > widths[i]:
                widths[i] = len(cell)
    for line in lines():
        yield "  ".join(
            [
                cell.rjust(width) if i in right else cell.ljust(width)
                for i, (cell, width) in enumerate(zip(line, widths, strict=False))
            ]
        ).rstrip()


def width_of(text: str) -> int:
    """Cells that ``text`` takes on a terminal (Unicode Standard Annex 11)."""
    if text.isascii():
        return len(text)
    from unicodedata import east_asian_width

    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


def shortened(text: str, cells: int) -> str:
    """``text`` in at most so many cells; what does not fit is left out of its middle."""
    if width_of(text) <= cells:
        return text
    if cells < 3:
        return ""
    room = cells - 2
    start, end = "", ""
    for char in text:
        if width_of(start + char) > room // 2:
            break
        start += char
    for char in reversed(text):
        if width_of(start + char + end) > room:
            break
        end = char + end
    return f"{start}..{end}"


def error_words(error: BaseException) -> str:
    """What an error of another library says, on one line; the name of its class where it says
    nothing."""
    return " ".join(str(error).split()) or type(error).__name__


def in_message(text: str) -> str:
    """``text`` out of a file, for a message: on one line, visible, and of at most 200 cells."""
    return shortened(printable(" ".join(text[:_MOST_READ].split())), _MOST_TOLD)


#: Cells of text out of a file that a message has, and characters that are looked at for them.
_MOST_TOLD, _MOST_READ = 200, 4096


def complex_text(value: complex) -> str:
    """A complex number as Python and NumPy write it, and read it: ``1+2j``."""
    return str(value).strip("()")


def unique_names(names: list[str]) -> list[str]:
    """``names``, each once: the first of equal ones stays, each other gets a number (``a_2``).

    An empty name that comes again is named after its place (``column5``).
    """
    seen, taken, numbers = set[str](), set(names), dict[str, int]()
    unique: list[str] = []
    for place, name in enumerate(names, 1):
        found = name
        if name in seen:
            stem, number = name or f"column{place}", numbers.get(name, 2)
            found = f"{stem}_{number}" if name else stem
            while found in taken:
                found, number = f"{stem}_{number}", number + 1
            numbers[name] = number
        seen.add(name)
        taken.add(found)
        unique.append(found)
    return unique


def in_line(word: str) -> str:
    """A word as a field of a line of CSV, in which options take names."""
    text = word.replace('"', '""')
    return f'"{text}"' if set(word) & set(',"\r\n') else word
