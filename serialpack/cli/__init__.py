"""The command line: a thin layer of words over the library.

``--version`` is answered before anything is imported; everything else is in ``app``.
"""

from __future__ import annotations

import sys


def main() -> None:
    """The ``serialpack`` command."""
    if sys.argv[1:] == ["--version"]:
        from serialpack._version import __version__

        print(f"serialpack {__version__}")
        return
    from serialpack.cli.app import run

    sys.exit(run(sys.argv[1:]))
