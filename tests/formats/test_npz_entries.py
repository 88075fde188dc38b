"""Entries of npz files that are told by what they are."""

from __future__ import annotations

import numpy as np
import pytest

from serialpack.errors import SerialpackError
from tests.formats.test_npy import saved
from tests.formats.test_npz import converted, encrypted, entries


def test_an_encrypted_entry_is_said_to_be_that() -> None:
    """It told what zipfile calls an entry."""
    with pytest.raises(SerialpackError, match=r"'a\.npy': it is encrypted; unzip takes it out"):
        converted(encrypted(entries({"a.npy": saved(np.zeros(3))})), "json")


def test_an_entry_without_a_name() -> None:
    """It was an internal error."""
    data = entries({"?name": b"", "a.npy": saved(np.zeros(1))}).replace(b"?name", b"\0name")
    with pytest.raises(SerialpackError, match="entries that are no arrays would be lost: ''"):
        converted(data, "json")
    assert converted(data, "json", lossy=["around"]) == b'{"a":[0.0]}\n'
