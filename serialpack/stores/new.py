"""Makes a new store in a hidden file, which gets its name when the store is whole."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType

from serialpack.errors import InputError, UsageError
from serialpack.files.output import Output
from serialpack.files.source import file_error
from serialpack.files.targets import check_output
from serialpack.stores.base import Change, KeyValueStore
from serialpack.stores.header import StoreHeader
from serialpack.stores.keys import HEADER_KEY
from serialpack.stores.registry import StoreName, named_after

#: How many seconds to wait for another process that uses the store which is to be replaced.
_TIMEOUT = 5.0


def check_new(name: StoreName, *, force: bool) -> None:
    """Raise at once, before anything is read, what making the store would raise."""
    if name.in_memory:
        raise UsageError(
            f"{name.url} is in memory, and gone with this process",
            hint=" or ".join(f"NAME{ending}" for ending in name.kind.endings),
        )
    check_output(name.path, force=force)


class NewStore:
    """``with NewStore(...) as new: new.write(...)``: the store appears whole when the block is
    left, or after an error not at all.

    ``force``: replace a file that is there. FileError, also where another process has the store
    locked that is to be replaced.
    """

    def __init__(self, name: StoreName, header: StoreHeader, *, force: bool = False) -> None:
        self._name = name
        self._force = force
        self._output = Output(name.path, force=force)
        try:
            with named_after(name.url):
                ending = os.path.splitext(name.path)[1]
                self.store: KeyValueStore = name.kind(self._output.hidden_path, "n", 0.0, ending)
                self.store.write([(HEADER_KEY, header.encode())])
        except BaseException:
            self._output.abandon()
            raise

    def write(self, changes: Sequence[Change], *, new: bool) -> None:
        """As ``KeyValueStore.write``; after an error the store must be given up."""
        with named_after(self._name.url):
            self.store.write(changes, new=new)

    def __enter__(self) -> NewStore:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            with named_after(self._name.url):
                self.store.close()
                if kind is None:
                    self._clear_place()
        except BaseException as failed:
            self._output.__exit__(type(failed), failed, failed.__traceback__)
            raise
        self._output.__exit__(kind, error, trace)

    def _clear_place(self) -> None:
        """Remove the files beside the new store that belong to a former store of the same name.

        The library would take what a killed writer has left there (a journal) for that of the new
        store. The old store is opened and closed first, by which the library does this work itself.
        """
        path, kind = self._name.path, self._name.kind
        left = [path + ending for ending in kind.beside]
        if not any(map(os.path.lexists, left)):
            return
        if os.path.exists(path) and self._force:
            with suppress(InputError):  # no store, so nothing of one is beside it
                kind(path, "w", _TIMEOUT).close()
        for each in left:
            try:
                os.unlink(each)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise file_error(error, each, "remove") from error
