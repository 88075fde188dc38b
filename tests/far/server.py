"""A small HTTP server of files, which counts what it is asked for and can misbehave."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Asked(NamedTuple):
    """A request, and how many bytes of the file were the answer."""

    method: str
    path: str
    range: str | None
    sent: int


class QuietServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Whoever hangs up has had enough."""

    @contextmanager
    def running(self) -> Iterator[None]:
        """It serves until it is left."""
        thread = threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            self.shutdown()
            self.server_close()
            thread.join()


class FileServer:
    """Serves ``files``. What it does with each can be changed while it runs.

    ``statuses``: what the next requests are answered with, in place of the file. ``ranges``:
    whether it knows them. ``sizes``: whether it tells how long files are. ``stalls``: whether it
    stays silent. ``cuts``: after so many bytes of each of the next answers the line breaks.
    ``on_get``: called before each GET is answered.
    """

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.asked: list[Asked] = []
        self.statuses: list[int] = []
        self.cuts: list[int] = []
        self.ranges = self.sizes = self.times = True
        self.stalls = threading.Event()
        self.ends = threading.Event()
        self.authorized: list[str | None] = []
        self.on_get: Callable[[], object] = lambda: None
        self.tag: str | None = None
        self._server = QuietServer(("127.0.0.1", 0), self._handler())
        self.host = f"127.0.0.1:{self._server.server_address[1]}"

    def url(self, name: str) -> str:
        return f"http://{self.host}/{name}"

    @property
    def gets(self) -> list[Asked]:
        return [each for each in self.asked if each.method == "GET"]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: Any) -> None: ...

            def do_HEAD(self) -> None:
                server._answer(self, body=False)

            def do_GET(self) -> None:
                server.on_get()
                server._answer(self, body=True)

        return Handler

    def _answer(self, to: BaseHTTPRequestHandler, *, body: bool) -> None:
        if self.stalls.is_set():
            self.ends.wait(20)
            to.close_connection = True
            return
        self.authorized.append(to.headers.get("Authorization"))
        name, asked = to.path.partition("?")[0].lstrip("/"), to.headers.get("Range")
        data = self.files.get(name)
        status = self.statuses.pop(0) if self.statuses else 200 if data is not None else 404
        if status != 200 or data is None:
            self.asked.append(Asked(to.command, to.path, asked, 0))
            to.send_response(status)
            to.send_header("Content-Length", "0")
            to.end_headers()
            return
        tag, whole = self.tag or f'"{hash(data):x}"', len(data)
        start, stop = 0, whole
        if asked and self.ranges:
            first, _, last = asked.removeprefix("bytes=").partition("-")
            start, stop = int(first), min(int(last) + 1 if last else whole, whole)
            to.send_response(206)
            to.send_header("Content-Range", f"bytes {start}-{stop - 1}/{whole}")
        else:
            to.send_response(200)
        to.send_header("ETag", tag)
        if self.times:
            to.send_header("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT")
        if self.sizes:
            to.send_header("Content-Length", str(stop - start))
        else:
            to.send_header("Connection", "close")
            to.close_connection = True
        end = min(stop, start + self.cuts.pop(0)) if body and self.cuts else stop
        # Before the answer is there: who gets it may look at once.
        told, noted = Asked(to.command, to.path, asked, end - start if body else 0), self.asked
        noted.append(told)
        to.end_headers()
        if body:
            try:
                to.wfile.write(data[start:end])
            except OSError:  # who asked has enough
                noted[noted.index(told)] = told._replace(sent=0)
            to.close_connection = to.close_connection or end < stop


@contextmanager
def file_server() -> Iterator[FileServer]:
    """One that runs until it is left."""
    server = FileServer()
    with server._server.running():
        try:
            yield server
        finally:
            server.ends.set()


def wait_until(true: Callable[[], bool]) -> None:
    """Until ``true()``; it has a minute."""
    until = time.monotonic() + 60
    while not true():
        assert time.monotonic() < until
        time.sleep(0.005)
