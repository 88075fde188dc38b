"""Which output belongs to which input."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

from serialpack.cli.files.inputs import Inputs, listed_command
from serialpack.cli.naming import STDIO, SUFFIX
from serialpack.errors import FileError, SerialpackError, UsageError
from serialpack.far import is_far, is_store
from serialpack.files.targets import is_device
from serialpack.text import printable, quoted

if TYPE_CHECKING:
    from serialpack.formats import Declaration

_ONE_BY_ONE = "-o names it, one by one"
_ONCE = "name it once"


class Targets:
    """Where outputs go: ``-o``, beside the input, or standard output."""

    def __init__(
        self, inputs: Inputs, output: str | None, *, joins: bool = False, into: str = ""
    ) -> None:
        """``joins``: several can go to standard output; ``into``: the format of which several are
        one file, too, where ``output`` is called as one."""
        files = inputs.paths
        self._output = output
        self._below = inputs.below
        self._alone = len(files) == 1
        several = len(files) > 1 or inputs.gathered
        is_named = output not in (None, STDIO)
        named = str(output) if is_named else ""
        #: The one file that several inputs become, where ``-o`` names one.
        self.in_file = named if several and _is_file(named, into) else None
        self._folder = (is_named and self.in_file is None) and (
            several or named.endswith(os.sep) or (bool(files) and os.path.isdir(named))
        )
        #: Whether ``-o`` names the one output.
        self.is_file = is_named and not self._folder
        #: The files given out so far, as they are called from the root.
        self.used: set[str] = set()
        #: What was given out, by input, and why others get none.
        self._planned: dict[str, str] = {}
        self._refused: dict[str, FileError] = {}
        self._real: dict[str, str] = {}
        self._made: set[str] = set()
        #: Folders that were not there before, as they are called from the root.
        self._missing: set[str] = set()
        #: Whether what several inputs become is one file, on standard output or ``in_file``.
        self.is_joined = self.in_file is not None or (len(files) > 1 and output == STDIO)
        if self.is_joined and not joins:
            raise UsageError(
                "several inputs cannot go to standard output",
                hint="-o FOLDER, or --archive, which makes one of them",
            )
        if self._folder and several:
            _check_folder(named, converts=bool(into), unpacks=joins)

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
        if path in self._refused:
            raise self._refused[path]
        if path in self._planned:
            return self._planned[path]
        target = self._target(path, name)
        absolute = self._from_root(target)
        if absolute in self.used:
            raise FileError(
                f"another input has the same output, {printable(target)}",
                path=path,
                hint=_ONE_BY_ONE,
            )
        self.used.add(absolute)
        self._planned[path] = target
        return target

    def plan(
        self, paths: Sequence[str], name: Callable[[str], str], *, stored: bool = False
    ) -> None:
        """Give out all targets before anything is written; ``name`` as for ``of``.

        FileError where two inputs have the same by the way they were typed. Where that is by their
        ``stored`` names, or by what their disk takes for the same, neither gets one: that, and
        what else is wrong with an input, ``of`` will say.
        """
        if self._output is not None and not self._folder:
            return
        owners: dict[str, str] = {}
        for path in paths:
            if path == STDIO or "\0" in path:
                continue
            try:
                target = self._target(path, name)
            except SerialpackError:
                continue
            root = self._from_root(target)
            owner = owners.setdefault(root, path)
            if path in self._planned:
                raise FileError("is named twice; nothing was written", path=path, hint=_ONCE)
            if owner != path:
                if stored:
                    self._refuse(owner, path, target, "", "-o in place of -N names it")
                    continue
                raise FileError(
                    f"{printable(owner)} has the same output, {printable(target)};"
                    " nothing was written",
                    path=path,
                    hint=self._apart(owner, path),
                )
            self._planned[path] = target
        self._check_alike({root: path for root, path in owners.items() if not is_far(root)})
        self.used |= owners.keys()

    def _check_alike(self, owners: dict[str, str]) -> None:
        """Refuse outputs, here with their inputs, that are one file where they go."""
        from serialpack.files.disk import folded, folding_in

        alike: dict[str, list[str]] = {}
        for root in owners:
            alike.setdefault(folded(root), []).append(root)
        in_common = cache(folding_in)
        for roots in alike.values() if len(alike) < len(owners) else ():
            seen: dict[str, str] = {}
            for root in roots if len(roots) > 1 else ():
                other = seen.setdefault(in_common(os.path.dirname(root))(root), root)
                if other == root:
                    continue
                case = root.casefold() == other.casefold()
                what = "case does not count" if case else "NFC and NFD of a name are one"
                hint = f"-o names a folder where {'it does' if case else 'they are two'}"
                target = self._planned[owners[root]]
                self._refuse(owners[other], owners[root], target, f", where {what}", hint)

    def _refuse(self, one: str, other: str, target: str, why: str, hint: str) -> None:
        """Give neither of two inputs the output that they both have.

        With ``-f`` and ``--rm`` the next run would write that of the one that was left over it.
        """
        for path, owner in ((other, one), (one, other)):
            same = f"{printable(owner)} has the same output, {printable(target)}{why}"
            self._refused.setdefault(path, FileError(same, path=path, hint=hint))

    def _apart(self, one: str, other: str) -> str:
        """What keeps two inputs from having the same output."""
        if os.path.realpath(one) == os.path.realpath(other):
            return _ONCE
        from serialpack.files.paths import entry_path

        # What a list names keeps the folders that it is named with.
        folders = {entry_path(os.path.dirname(path))[0] for path in (one, other)}
        if self._folder and len(folders) > 1:
            return f"{listed_command() or '--files-from, of a list of all,'} keeps them apart"
        return _ONE_BY_ONE

    def _target(self, path: str, name: Callable[[str], str]) -> str:
        target = name(path)
        if self._folder:
            assert self._output is not None
            base = os.path.basename(target)
            target = os.path.join(self._output, self._below.get(path, ""), base)
        if is_device(target):  # a pipe may wait for ever; whoever means it names it
            raise FileError("is not a regular file", path=target, hint="-o writes to it")
        return target

    def _from_root(self, target: str) -> str:
        """What ``target`` is called from the root; links on the way to its folder are followed."""
        folder, base = os.path.split(target)
        if folder not in self._real:
            self._real[folder] = os.path.realpath(folder)
        return os.path.join(self._real[folder], base)

    def folder_of(self, path: str, name: Callable[[str], str]) -> str:
        """The folder that the entries of ``path`` go below: ``-o`` itself for a single input."""
        target = self._output if self._alone and self._output else self.of(path, name)
        if target == STDIO:
            raise UsageError(
                "an archive unpacks into a folder",
                hint="-o FOLDER; --include GLOB takes one file of it",
            )
        self._note_missing(target)
        return target

    def of_entry(self, path: str, entry: str, name: Callable[[str], str], *, make: bool) -> str:
        """The target for one entry of the archive ``path``, which becomes the file ``entry``:
        what ``-o`` names, or that file below the folder that all entries would go to.

        ``make``: the folders that it is in.
        """
        folders = self._folder or (self._output is None and path != STDIO)
        if not folders:
            return self.of(path, name)
        from serialpack.files.paths import check_folder, place_below

        folder = self.folder_of(path, name)
        check_folder(folder)
        return place_below(folder, entry) if make else os.path.join(folder, entry)

    def folder_of_parts(self, path: str) -> str | None:
        """The folder that ``-o`` names, for several files that ``path`` becomes, the only input;
        None where that is not so."""
        if not (self._folder and self._alone) or self._output is None:
            return None
        return os.path.join(self._output, self._below.get(path, ""))

    def to_check(self, target: str) -> str | None:
        """``target``, where it is a file that can be checked before its folder is made."""
        is_made = not self.is_file and not os.path.isdir(os.path.dirname(target) or ".")
        return None if target == STDIO or is_made else target

    def make_folder(self, target: str | None = None) -> list[str]:
        """Make the folder that several outputs go into, or that of ``target`` in it.

        The folders that something was made in.
        """
        folder = self._output if target is None and self._folder else self.folder_for(target)
        if folder is None or folder in self._made or is_far(folder):
            return []
        from serialpack.files.paths import make_folder, make_folder_of_one

        made_in = (make_folder if target is None else make_folder_of_one)(folder)
        self._made.add(folder)
        return made_in

    def begin(self) -> None:
        """To be called before anything is written: which folders are there is known then."""
        if self._folder:
            targets = (self.folder_for(target) for target in self._planned.values())
            for folder in {self._output, *targets}:
                if folder is not None:
                    self._note_missing(folder)

    def _note_missing(self, folder: str) -> None:
        """That ``folder`` is about to be made, with those that it is in, unless it is there."""
        path = "" if is_far(folder) else os.path.abspath(folder)
        while path and path not in self._missing and not os.path.lexists(path):
            self._missing.add(path)
            path = os.path.dirname(path)

    def remove_empty(self) -> None:
        """Remove the folders that were not there before and that nothing came into, as what was to
        be in them failed. Another run that has looked for one of them makes it again."""
        for folder in sorted(self._missing, reverse=True):
            with suppress(OSError):
                os.rmdir(folder)

    def folder_for(self, target: str | None) -> str | None:
        """The folder that is to be made for ``target``, where one is."""
        if not self._folder or target is None:
            return None
        # Of an archive the target is a folder itself, which may be left as it was named: out/.
        return os.path.dirname(target.rstrip("/")) or None


def _is_file(output: str, format: str) -> bool:
    """Whether ``output`` is called as a file in ``format``, and is no folder."""
    named = _format_named(output) if format else None
    return named is not None and named.name == format


def _check_folder(output: str, *, converts: bool, unpacks: bool) -> None:
    """UsageError where several outputs would go below a name that is one of a file."""
    is_packed = output.endswith(SUFFIX) and not _is_folder(output)
    named = _format_named(output)
    instead = _written_instead(output) if unpacks and named is None else ""
    if is_packed or named is not None or instead:
        one = "pack --archive makes one of them; " if is_packed else instead
        if converts and named is not None:
            from serialpack.conversion.targets.writers import is_written

            one += f"--to {named.name} joins them; " if is_written(named.name) else ""
        raise UsageError(
            f"several inputs cannot go to one file, {output}",
            hint=one
            + (
                "-o FOLDER takes each"
                if os.path.exists(output)
                else f"-o {quoted(f'{output}/')} is a folder"
            ),
        )


def _written_instead(output: str) -> str:
    """What joins several inputs where ``output`` is called as a file of data that is not written
    here; empty where it is not."""
    if _is_folder(output):
        return ""
    from serialpack.formats.foreign import known_name

    base, ending = os.path.splitext(output)
    known = known_name(ending[1:].lower())
    if known is None or not known.written:
        return ""
    to, _, why = known.written.removeprefix("--to ").partition(" ")
    return f"--to {to} -o {quoted(f'{base}.{to}')} {why}; "


def _format_named(output: str) -> Declaration | None:
    """The format that ``output`` is called as a file of; None where it is a folder."""
    if _is_folder(output):
        return None
    from serialpack.compressed.source import uncompressed_name
    from serialpack.formats import FORMATS

    return FORMATS.by_extension(uncompressed_name(output))


def _is_folder(output: str) -> bool:
    """Whether ``output`` is a folder, or called as one; or as a store."""
    return output.endswith((os.sep, "/")) or os.path.isdir(output) or is_store(output)
