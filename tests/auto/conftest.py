"""What the tests of arrays draw."""

import numpy as np
import pytest

DRAW = np.random.default_rng(1)
_BEGIN = DRAW.bit_generator.state


@pytest.fixture(autouse=True)
def _drawn_anew() -> None:
    """Each test draws the same, whatever was run before it."""
    DRAW.bit_generator.state = _BEGIN
