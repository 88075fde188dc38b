"""A new store: made in a hidden file, which gets its name once it is whole."""

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

#: Seconds to wait for another process, where a store is to be replaced.
_TIMEOUT = 5.0


def check_new(name: StoreName, *, force: bool) -> None:
    """Raise at once what making the store would raise."""
    if name.in_memory:
        raise UsageError(
            f"{name.url} is in memory, and gone with this process",
            hint=" or ".join(f"NAME{ending}" for ending in name.kind.endings),
        )
    check_output(name.path, force=force)


class NewStore:
    """``with NewStore(...) as new: new.write(...)``: the store appears whole, or not at all.

    ``force`` replaces a file. FileError, also where another process has the store locked that is
    to be replaced.
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
        """As ``KeyValueStore.write``; nobody sees what an error leaves."""
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
        """See that nothing stands beside the new file that belongs to a former store of its name.

        What a killed writer left there would be taken for the new one's: so the old store is
        opened, which undoes it.
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
