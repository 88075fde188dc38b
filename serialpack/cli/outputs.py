"""Which output belongs to which input."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from serialpack.cli.naming import STDIO
from serialpack.errors import FileError, UsageError


class Targets:
    """Where outputs go: ``-o``, beside the input, or standard output."""

    def __init__(self, files: Sequence[str], output: str | None, *, joins: bool = False) -> None:
        """``joins``: several can go to standard output."""
        self._output = output
        self._alone = len(files) == 1
        self._folder = output not in (None, STDIO) and (
            len(files) > 1
            or str(output).endswith(os.sep)
            or (bool(files) and os.path.isdir(output or ""))
        )
        #: Whether ``-o`` names the one output.
        self.is_file = output not in (None, STDIO) and not self._folder
        #: The files given out so far, as they are called from the root.
        self.used: set[str] = set()
        #: Whether what several inputs become is one file, on standard output.
        self.is_joined = len(files) > 1 and output == STDIO
        if self.is_joined and not joins:
            raise UsageError("several inputs cannot go to standard output", hint="-o FOLDER")

    def of(self, path: str, name: Callable[[str], str]) -> str:
        """The target for ``path``; ``name(path)`` gives the file's own, beside it.

        FileError where another input of this call has the same target: with ``-f`` and ``--rm``
        only the last of them would be left.
        """
        if self._output is not None and not self._folder:
            return self._output
        if path == STDIO and self._folder:
            raise UsageError("it has no name to have in a folder", hint="-o FOLDER/NAME")
        if path == STDIO:
            return STDIO
        target = name(path)
        if self._folder:
            assert self._output is not None
            target = os.path.join(self._output, os.path.basename(target))
        absolute = os.path.realpath(target)
        if absolute in self.used:
            raise FileError(
                "another input has the same output", path=target, hint="-o names it, one by one"
            )
        self.used.add(absolute)
        return target

    def folder_of(self, path: str, name: Callable[[str], str]) -> str:
        """The folder that the entries of ``path`` go below: ``-o`` itself for a single input."""
        target = self._output if self._alone and self._output else self.of(path, name)
        if target == STDIO:
            raise UsageError("an archive unpacks into a folder", hint="-o FOLDER")
        return target

    def make_folder(self) -> None:
        """Make the folder that several outputs go into."""
        if self._folder:
            from serialpack.paths import make_folder

            assert self._output is not None
            make_folder(self._output)
