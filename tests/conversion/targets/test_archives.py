"""Documents become arrays by name, whatever is in them: as the verdict of each value says."""

from __future__ import annotations

import pytest

from serialpack.conversion.losses.rules import ARCHIVES
from serialpack.formats import FORMATS
from tests.conversion.test_matrix import check_values


@pytest.mark.parametrize("target", sorted(ARCHIVES))
def test_every_value_of_a_document(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if FORMATS.declaration(target).has_datasets:
        pytest.importorskip("h5py")
        from tests.formats.hdf5_files import read_here

        read_here(monkeypatch)
    for shift in range(3):
        check_values("msgpack", target, shift)
