"""What all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# A busy machine is no failure.
settings.register_profile("serialpack", deadline=None)
settings.register_profile("thorough", deadline=None, max_examples=3000)
settings.load_profile("serialpack")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real files and conformance suites; the test is skipped where it is absent."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("SERIALPACK_DATA", beside))
    if not folder.is_dir():
        pytest.skip(f"no {folder}: set SERIALPACK_DATA")
    return folder
