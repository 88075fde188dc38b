"""Small records that are cut as large ones are."""

from __future__ import annotations

import pytest

from serialpack.conversion.blocks import wide
from serialpack.formats.csv import parts as csv_parts
from serialpack.formats.json import parts as json_parts
from serialpack.formats.messages import parts as message_parts
from serialpack.formats.pieces import parts
from serialpack.pipeline import writing

#: Of a part.
MEMBERS, BYTES = 3, 24


def cut_from(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """Have records, and values in them, of more than ``size`` bytes be cut into small parts."""
    for module in wide, writing, csv_parts, json_parts, message_parts, parts:
        monkeypatch.setattr(module, "WIDE", size)
        for name, value in {"MEMBERS": MEMBERS, "BYTES": BYTES}.items():
            if hasattr(module, name):
                monkeypatch.setattr(module, name, value)
