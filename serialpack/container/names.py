"""Names in headers: of files, entries and dictionaries (man/spk.5, HEADER)."""

import os
from contextlib import suppress
from typing import Any, NamedTuple

from serialpack.container.fields import count_of
from serialpack.errors import DamagedError, UsageError

#: The feature that a member names in ``needs`` where it is read with a dictionary.
DICTIONARY = "dict"


class DictionaryName(NamedTuple):
    """The dictionary that a member is read with. ``check``: XXH3-64 of all its bytes, by which it
    is known; ``name``: base name of the file that it was in."""

    check: int
    name: str

    def value(self) -> list[Any]:
        """What a header says of the dictionary."""
        return [self.check, encode_name(self.name)]

    def __str__(self) -> str:
        return f"{self.name} ({self.check:016x})"


def dictionary_in(
    values: dict[str, Any], needs: tuple[str, ...], start: int
) -> DictionaryName | None:
    """The dictionary that the header ``values`` names, or None; DamagedError where malformed."""
    if ("d" in values) != (DICTIONARY in needs):
        raise DamagedError("the header's 'd' and 'needs' disagree", start=start)
    if "d" not in values:
        return None
    given = values["d"]
    if type(given) is list and len(given) > 1 and isinstance(given[1], str | bytes):
        with suppress(ValueError):
            return DictionaryName(count_of(given[0]), decode_name(given[1], start) or "")
    raise DamagedError("the header's 'd' is malformed", start=start)


def encode_name(name: str) -> str | bytes:
    """What a header holds for ``name``: the text, or where that is no Unicode its bytes.

    UsageError for a text that is no name.
    """
    if name.isascii():  # the usual case, and the quickest to tell
        return name
    try:
        name.encode()
        return name
    except UnicodeEncodeError:
        pass
    try:
        return os.fsencode(name)
    except UnicodeEncodeError as error:
        raise UsageError(f"is no name of a file: {name!r} ({error.reason})") from None


def decode_name(value: Any, start: int) -> str | None:
    """The name that was stored as ``value``, None as None; DamagedError for anything else."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return os.fsdecode(value)
    raise DamagedError("a name in the header is malformed", start=start)
