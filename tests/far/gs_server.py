"""A small server of one bucket, which speaks as much of Google Storage's JSON as gcsfs asks.

https://cloud.google.com/storage/docs/json_api/v1, resumable uploads:
https://cloud.google.com/storage/docs/performing-resumable-uploads
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.far.server import QuietServer


class Storage:
    """``files`` by name. ``uploads``: what of each that is under way has come; ``asked``: method
    and path of each request, and how many bytes of a file were the answer. ``statuses``: with what
    the next requests for files fail; ``before_end``: called before a file is made."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.uploads: dict[str, tuple[str, bool, bytearray]] = {}
        self.asked: list[tuple[str, str, int]] = []
        self.cancelled = 0
        self.before_end: Callable[[], object] = lambda: None
        self.statuses: list[int] = []
        self.server = QuietServer(("127.0.0.1", 0), _handler(self))
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"

    def told(self, name: str) -> dict[str, Any]:
        """What the server says of a file."""
        data = self.files[name]
        return {
            "name": name,
            "bucket": "far",
            "size": str(len(data)),
            "etag": f"{hash(data):x}",
            "generation": f"{abs(hash(data))}",
            "updated": "1994-11-06T08:49:37.000Z",
        }


def _handler(storage: Storage) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None: ...

        def _answer(self, status: int, data: bytes = b"", **headers: str) -> None:
            sent = len(data) if "/download/" in self.path else 0
            storage.asked.append((self.command, self.path, sent))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def _fails(self, status: int) -> None:
            self._answer(status, json.dumps({"error": {"code": status, "message": "no"}}).encode())

        def do_GET(self) -> None:
            url = urlsplit(self.path)
            name = unquote(url.path.partition("/o/")[2])
            if storage.statuses:
                self._fails(storage.statuses.pop(0))
            elif not name:
                prefix = dict(parse_qsl(url.query)).get("prefix", "")
                found = [storage.told(each) for each in storage.files if each.startswith(prefix)]
                self._answer(200, json.dumps({"items": found}).encode())
            elif "/b/far/" not in url.path or name not in storage.files:
                self._fails(404)
            elif url.path.startswith("/download/"):
                data, asked = storage.files[name], self.headers.get("Range", "bytes=0-")
                first, last = re.findall(r"\d*", asked.removeprefix("bytes="))[::2][:2]
                self._answer(206, data[int(first) : int(last) + 1 if last else len(data)])
            else:
                self._answer(200, json.dumps(storage.told(name)).encode())

        def do_DELETE(self) -> None:
            url = urlsplit(self.path)
            if "upload_id" in url.query:
                del storage.uploads[dict(parse_qsl(url.query))["upload_id"]]
                storage.cancelled += 1
                self._answer(499)
            else:
                del storage.files[unquote(url.path.partition("/o/")[2])]
                self._answer(204)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            query = dict(parse_qsl(urlsplit(self.path).query))
            new = query.get("ifGenerationMatch") == "0"
            if "/b/far/" not in self.path:
                self._fails(404)
            elif "upload_id" in query:
                self._goes_on(query["upload_id"], body)
            elif query["uploadType"] == "resumable":
                number = str(len(storage.asked))
                storage.uploads[number] = json.loads(body)["name"], new, bytearray()
                self._answer(200, Location=f"{storage.address}/b/far/o?upload_id={number}")
            else:
                _, told, data = body.split(b"--==0==", 2)
                head, _, content = data.partition(b"\n\n")
                assert head
                name = json.loads(told.partition(b"\n\n")[2])["name"]
                self._made(name, content.removesuffix(b"\n--==0==--"), new=new)

        def _goes_on(self, number: str, body: bytes) -> None:
            name, new, data = storage.uploads[number]
            data += body
            if self.headers["Content-Range"].endswith("/*"):
                assert len(body) % (256 << 10) == 0
                self._answer(308, Range=f"bytes=0-{len(data) - 1}")
            else:
                self._made(name, bytes(data), new=new)
                if storage.files[name] == data:
                    del storage.uploads[number]

        def _made(self, name: str, data: bytes, *, new: bool) -> None:
            storage.before_end()
            if new and name in storage.files:
                self._fails(412)
            else:
                storage.files[name] = data
                self._answer(200, json.dumps(storage.told(name)).encode())

    return Handler


@contextmanager
def gs_server() -> Iterator[Storage]:
    """One that runs until it is left."""
    storage = Storage()
    with storage.server.running():
        yield storage
