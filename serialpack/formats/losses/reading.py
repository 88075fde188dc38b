"""Reads a block of a source under ``--lossy``: its values, and what is lost of them, counted."""

from __future__ import annotations

from copy import copy
from typing import Any

from serialpack.errors import SyntaxInputError
from serialpack.formats.base import SourceBlock, ValueFormat
from serialpack.formats.losses.marks import Marks
from serialpack.formats.losses.utf8 import mended, original
from serialpack.values.kinds import UTF8, Loss


def parse_lossy(
    fmt: ValueFormat, block: SourceBlock, allowed: frozenset[str]
) -> tuple[list[Any], list[Loss]]:
    """As ``fmt.parse``, and the losses, one for each rule: what Python cannot hold, or is no UTF-8,
    changes as ``allowed`` says.

    ``allowed``: rules of ``--lossy``, of which the format heeds those in ``heeds``. All else that
    is lost is Unheld, also what ``parse`` leaves to the proof (a key twice, digits, a ``-0``): so
    ``difference`` need not be asked.
    """
    reader = copy(fmt)
    reader.marks = marks = Marks(allowed)
    text = data = bytes(block.data)
    if fmt.declared.is_text and UTF8 in allowed:
        text, marks.base = mended(data)
    try:
        records = reader.parse(block._replace(data=text) if text is not data else block)
    except SyntaxInputError as error:
        if text is not data:
            raise _moved(error, text, marks.base, block.offset) from None
        raise
    return marks.settled(records, block.first_record)


def _moved(error: SyntaxInputError, text: bytes, base: int, start: int) -> SyntaxInputError:
    """``error``, which counts the bytes of ``text``, placed where they came from."""
    before = text[: error.offset - start].decode()
    return SyntaxInputError(
        error.message,
        offset=start + len(original(before, base)),
        line=error.line,
        column=error.column,
        hint=error.hint,
    )
