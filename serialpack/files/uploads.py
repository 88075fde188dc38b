"""An output at a URL: it is sent as it is written, and appears when it is whole."""

from __future__ import annotations

from serialpack.errors import FileError, MissingFileError
from serialpack.far.upload import Upload, remove
from serialpack.files.disk import WrittenBytes
from serialpack.files.output import Output, undisturbed
from serialpack.files.pending import other_exists
from serialpack.files.source import Source
from serialpack.stages.stage import Buffer


class FarOutput(Output):
    """An ``Output`` on a server, which gives it a mode and a time of its own.

    Ctrl-C has to wait until a part is sent: an object store may keep, and charge for, a part that
    is under way when the upload is given up.
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
        """Nothing to do: the disk is the server's affair."""

    def to_disk(self) -> None:
        """Nothing to do: the disk is the server's affair."""

    def check_read_back(self) -> None:
        """Nothing to do: it can only be read when it has its name, and ``give_name`` does so."""

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
        """Whether a file with the same bytes is there; ExistingFileError for one with other
        bytes."""
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
