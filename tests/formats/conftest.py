"""Files of HDF5 that tests of several files share, and how these are read."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def hdf5_here(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are read in this process, but where a test asks for ``own_process``."""
    from tests.formats.hdf5_files import read_here

    if "own_process" not in request.fixturenames:
        read_here(monkeypatch)


@pytest.fixture
def own_process() -> None:
    """Files are read as they are anywhere else."""


@pytest.fixture(scope="session")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One of HDF5 with a dataset of each kind; no test writes it."""
    from tests.formats.hdf5_files import made_of_all

    return made_of_all(tmp_path_factory.mktemp("hdf5") / "all.h5")
