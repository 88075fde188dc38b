"""Entities that nothing in a document of XML defines."""

from __future__ import annotations

import io
import json
import shlex
import subprocess
import sys

import pytest

import serialpack


def test_entities_of_html_are_told_with_what_writes_their_numbers() -> None:
    """Feeds have them, which are no XML without what defines them."""
    data = "<r a='&auml;'>1&nbsp;&lt;&LT;&frac14;&unknown;\xe9</r>".encode("latin-1")
    data = b"<?xml version='1.0' encoding='iso-8859-1'?>" + data
    with pytest.raises(serialpack.SerialpackError, match="undefined entity") as refused:
        serialpack.convert(io.BytesIO(data), io.BytesIO(), to="json", format="xml")
    command = str(refused.value.hint).partition(" <FILE")[0]
    words = [word.replace("python3", sys.executable) for word in shlex.split(command)]
    made = subprocess.run(words, input=data, capture_output=True, check=True).stdout
    out = io.BytesIO()
    serialpack.convert(io.BytesIO(made), out, to="json", format="xml")
    assert json.loads(out.getvalue()) == {"r": {"@a": "\xe4", "#text": "1\xa0<<\xbc&unknown;\xe9"}}
