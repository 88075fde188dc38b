"""Warnings, told where somebody called serialpack."""

import sys
from warnings import warn


def warn_caller(said: str, category: type[Warning]) -> None:
    """Warn, at the line that called serialpack."""
    package, level = __name__.partition(".")[0], 1
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals["__name__"].split(".")[0] == package:
        frame, level = frame.f_back, level + 1
    warn(said, category, stacklevel=level + 1)
