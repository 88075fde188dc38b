"""Libraries that are installed, and cannot be imported: a file of theirs is gone, say, or is of
another Python."""

from __future__ import annotations

import sys

from serialpack.errors import MissingLibraryError
from serialpack.text import error_words

#: What the loader says of a library that it has no memory for.
UNMAPPED = "failed to map segment"


def broken_library(error: ImportError) -> MissingLibraryError:
    """The error for ``error``, which came of importing a library: which one it is, and what
    installs it again. Raises MemoryError where the library is whole, and memory ended."""
    if UNMAPPED in str(error):
        raise MemoryError(str(error)) from error
    name = (error.name or _last_module(error)).partition(".")[0]
    if name in sys.stdlib_module_names:
        return MissingLibraryError(f"this Python has no {name}: {error_words(error)}")
    import importlib.metadata

    owners = importlib.metadata.packages_distributions().get(name, [name])
    if isinstance(error, ModuleNotFoundError) and name not in sys.modules:
        said, install = f"the library {name} is not installed", "pip install"
    else:
        said = f"the library {name} cannot be imported: {error_words(error)}"
        install = "pip install --force-reinstall"
    return MissingLibraryError(said, hint=f"{install} {owners[0]}")


def _last_module(error: ImportError) -> str:
    """The module that raised ``error``."""
    name, at = "", error.__traceback__
    while at is not None:
        name, at = at.tb_frame.f_globals.get("__name__", ""), at.tb_next
    return name
