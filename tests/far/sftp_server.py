"""A small SFTP server of a folder (paramiko's), whose one user has a password."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import paramiko

PASSWORD = "secret"
_KEY = paramiko.ECDSAKey.generate()


class _Login(paramiko.ServerInterface):  # type: ignore[misc]
    def check_auth_password(self, username: str, password: str) -> int:
        right = (username, password) == ("me", PASSWORD)
        return int(paramiko.AUTH_SUCCESSFUL if right else paramiko.AUTH_FAILED)

    def check_channel_request(self, *_: object) -> int:
        return int(paramiko.OPEN_SUCCEEDED)


def _code(error: OSError) -> int:
    return int(paramiko.SFTPServer.convert_errno(error.errno or 0))


class _Handle(paramiko.SFTPHandle):  # type: ignore[misc]
    """An open file, whose reads are noted."""

    def __init__(self, server: SftpFolder, path: str, file: Any, flags: int) -> None:
        super().__init__(flags)
        self.readfile = self.writefile = file
        self._server, self._path = server, path

    def stat(self) -> Any:
        return paramiko.SFTPAttributes.from_stat(os.fstat(self.readfile.fileno()))

    def read(self, offset: int, length: int) -> Any:
        self._server.read.append((self._path, offset, length))
        return super().read(offset, length)

    def write(self, offset: int, data: bytes) -> Any:
        if offset >= self._server.full_from:
            return paramiko.SFTP_FAILURE
        return super().write(offset, data)


class SftpFolder:
    """``root`` as a server gives it. ``read``: path, offset and length of what is asked for;
    ``full_from``: the most bytes that a file may have."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.read: list[tuple[str, int, int]] = []
        self.connections = 0
        self.full_from = 1 << 40
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.host = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self._transports: list[paramiko.Transport] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def url(self, name: str, login: str = f"me:{PASSWORD}@") -> str:
        return f"sftp://{login}{self.host}/{name}"

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            transport = paramiko.Transport(client)
            self._transports.append(transport)
            transport.add_server_key(_KEY)
            transport.set_subsystem_handler("sftp", paramiko.SFTPServer, _interface(self))
            try:
                transport.start_server(server=_Login())
            except (EOFError, OSError, paramiko.SSHException):
                continue  # who asked has enough

    def names(self) -> list[str]:
        """The files that are there."""
        return sorted(path.name for path in self.root.iterdir())

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self.hang_up()

    def hang_up(self) -> None:
        while self._transports:
            self._transports.pop().close()


def _interface(folder: SftpFolder) -> type[paramiko.SFTPServerInterface]:
    def real(path: str) -> Path:
        return folder.root / path.lstrip("/")

    class Files(paramiko.SFTPServerInterface):  # type: ignore[misc]
        def open(self, path: str, flags: int, attr: Any) -> Any:  # noqa: ARG002
            try:
                descriptor = os.open(real(path), flags, 0o666)
            except OSError as error:
                return _code(error)
            mode = "rb" if flags & 3 == os.O_RDONLY else "wb"
            return _Handle(folder, path, os.fdopen(descriptor, mode), flags)

        def stat(self, path: str) -> Any:
            try:
                return paramiko.SFTPAttributes.from_stat(real(path).stat())
            except OSError as error:
                return _code(error)

        lstat = stat

        def list_folder(self, path: str) -> Any:
            return [
                paramiko.SFTPAttributes.from_stat(each.stat(), each.name)
                for each in real(path).iterdir()
            ]

        def remove(self, path: str) -> int:
            return _done(lambda: real(path).unlink())

        def rename(self, oldpath: str, newpath: str) -> int:
            """As OpenSSH: over nothing that is there."""
            if real(newpath).exists():
                return int(paramiko.SFTP_FAILURE)
            return self.posix_rename(oldpath, newpath)

        def posix_rename(self, oldpath: str, newpath: str) -> int:
            return _done(lambda: real(oldpath).rename(real(newpath)))

    return Files


def _done(call: Any) -> int:
    try:
        call()
    except OSError as error:
        return _code(error)
    return int(paramiko.SFTP_OK)


@contextmanager
def sftp_server(root: Path) -> Iterator[SftpFolder]:
    """One that runs until it is left."""
    server = SftpFolder(root)
    try:
        yield server
    finally:
        with suppress(OSError):  # a test has closed it
            server.close()
