"""A real pseudo-terminal, and what a person sees on it."""

from __future__ import annotations

import os
import re
import threading

import pytest

from tests.faults.conftest import Command

pty = pytest.importorskip("pty", reason="no pseudo-terminals here")


class Terminal:
    """A pseudo-terminal: ``screen`` is what was written to it, ``lines`` what stands there."""

    def __init__(self, columns: int = 100) -> None:
        import fcntl
        import struct
        import termios

        self._master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.screen = b""
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._master, 1 << 16)
            except OSError:  # EIO: everyone has closed the other end
                return
            if not data:
                return
            self.screen += data

    def close(self) -> None:
        """Everything written is in ``screen`` after this."""
        if self.slave >= 0:
            os.close(self.slave)
            self.slave = -1
            self._reader.join(60)
            os.close(self._master)

    @property
    def lines(self) -> list[str]:
        """What a person reads in the end: lines overwritten as a terminal does, no empty ones."""
        shown = []
        text = re.sub(r"\x1b\[[0-9;]*m", "", self.screen.decode())
        for line in text.replace("\r\n", "\n").split("\n"):
            cells: list[str] = []
            for piece in line.split("\r"):
                cells[: len(piece)] = piece
            shown.append("".join(cells).rstrip())
        return [line for line in shown if line]


def ended(process: Command, terminal: Terminal, code: int = 0) -> None:
    """The exit code is ``code``, and ``terminal`` has everything."""
    if process.returncode is None:
        process.communicate(timeout=120)
    terminal.close()
    assert process.returncode == code, terminal.screen
    assert b"Traceback" not in terminal.screen
    assert b"internal error" not in terminal.screen
