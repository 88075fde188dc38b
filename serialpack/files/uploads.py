"""An output that a URL names: sent as it is written, and there once it is whole."""

from __future__ import annotations

from serialpack.errors import FileError, MissingFileError
from serialpack.far.upload import Upload, remove
from serialpack.files.disk import WrittenBytes
from serialpack.files.output import Output, undisturbed
from serialpack.files.pending import other_exists
from serialpack.files.source import Source
from serialpack.stages.stage import Buffer


class FarOutput(Output):
    """As ``Output``, but for what a server does: mode and time are its own, and it has no folder.

    Ctrl-C waits until a part is sent: what is under way when an upload is given up may be kept,
    and paid for, by an object store.
    """

    def _begin(self) -> None:
        if self._only_same:
            self._written = WrittenBytes()
        self._upload = Upload(self.path, new=not self._force)

    def _put(self, data: Buffer) -> None:
        with undisturbed():
            self._upload.write(memoryview(data))

    def _finish(self) -> None:
        self._flush()

    def begin_to_disk(self) -> None:
        """Nothing is anywhere before it has its name."""

    def to_disk(self) -> None:
        """Nor then."""

    def check_read_back(self) -> None:
        """It is read when it has its name: ``give_name``."""

    def give_name(self) -> None:
        """Send the rest; FileError where the server does not have what was written then."""
        if self._only_same and self._stands_there():
            self._upload.abort()
            return
        self._upload.commit()
        if self._written is not None:
            with Source(self.path) as source:
                same = self._written.is_read(source.read)
            if not same:
                remove(self.path)
                raise FileError("what was read back is not what was written", path=self.path)

    def _stands_there(self) -> bool:
        """Whether the very file is there already; ExistingFileError where another one is."""
        assert self._written is not None
        try:
            with Source(self.path) as source:
                same = self._written.is_read(source.read)
        except MissingFileError:
            return False
        if not same:
            raise other_exists(self.path)
        return True

    def abandon(self) -> None:
        with undisturbed():
            self._upload.abort()
