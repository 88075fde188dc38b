"""Opens far files by fsspec, which knows the protocols, and asks for their status.

Credentials and settings are those of fsspec and its libraries: ``AWS_*``, ``~/.aws``, ``FSSPEC_*``,
``~/.config/fsspec``, the login in a URL. https://filesystem-spec.readthedocs.io
"""

from __future__ import annotations

import asyncio
import logging
import os
import stat
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache, partial
from typing import IO, Any, cast

from serialpack.errors import FileError, MissingLibraryError, UsageError
from serialpack.far import sftp
from serialpack.far.reading import RangedFile, StreamedFile
from serialpack.far.trouble import CONNECT, SILENCE, Changed, RangesIgnored, as_ours, log, tried
from serialpack.far.urls import address

#: For how many seconds a server may be silent, where the library itself tries again: gcsfs six
#: times in all, botocore five times, which makes about a minute.
_AGAIN, _AGAIN_S3 = 15, 10

#: Protocol -> the extra that brings its library.
_EXTRAS = {
    **dict.fromkeys(("http", "https", "s3", "s3a"), "remote"),
    **dict.fromkeys(("gs", "gcs"), "gs"),
    **dict.fromkeys(("sftp", "ssh"), "sftp"),
}

#: The names under which fsspec's file systems give the modification time of a file; where a file is
#: never changed, the time at which it was made.
_TIMES = ("LastModified", "Last-Modified", "mtime", "modified", "updated", "created")
#: The names under which they give something that changes when the bytes of a file do.
_TAGS = ("ETag", "etag", "Content-MD5", "md5Hash", "generation", "Digest")


def system_of(url: str, **more: Any) -> tuple[Any, str]:
    """The fsspec file system of ``url``, and the path of the file in it. ``more``: settings for it.

    MissingLibraryError, UsageError for an unknown scheme; other errors as of ``trouble.as_ours``.
    """
    try:
        import fsspec
        from fsspec.core import url_to_fs
    except ModuleNotFoundError:
        raise MissingLibraryError(
            "URLs cannot be read here: fsspec is not installed",
            hint="pip install 'serialpack[remote]'",
            path=url,
        ) from None
    whole = address(url)
    try:
        for scheme in ("http", "https", "gs", "gcs", "sftp", "ssh"):
            if f"{scheme}://" in whole:
                more[scheme] = _settings(scheme, fsspec.config.conf.get(scheme, {}))
        fs, path = url_to_fs(whole, **more)
        if "s3" in fs.protocol:
            fs.retries = 1  # botocore tries five times; s3fs would have it do so five times
            fs.read_timeout = _AGAIN_S3  # where config_kwargs do not say it
        elif "sftp" in fs.protocol:
            if not fs.client.get_transport().is_active():  # the server has hung up
                fs.clear_instance_cache()
                fs, path = url_to_fs(whole, **more)
            fs.ftp.get_channel().settimeout(SILENCE)
    except ImportError as error:
        raise _missing(error, url) from None
    except ValueError as error:
        scheme, _, rest = url.partition("://")
        hint = f"{rest.lstrip('/')} names the database" if scheme == "sqlite" else None
        raise UsageError(str(error).lower(), path=url, hint=hint) from None
    except Exception as error:
        raise as_ours(error, url, "open") from error
    return fs, str(path)


def _settings(scheme: str, by_user: dict[str, Any]) -> dict[str, Any]:
    """How long the file system of ``scheme`` waits, where the user's configuration of fsspec
    (``by_user``) does not say it."""
    if scheme in ("http", "https"):
        return {} if "get_client" in by_user else {"get_client": _client}
    # These libraries also log what they raise, with a traceback; without a handler, to stderr.
    library = logging.getLogger("gcsfs" if scheme in ("gs", "gcs") else "paramiko")
    if not library.handlers:
        library.addHandler(logging.NullHandler())
    if scheme in ("gs", "gcs"):
        import aiohttp

        limit = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT, sock_read=_AGAIN)
        return {"session_kwargs": {"timeout": limit, **by_user.get("session_kwargs", {})}}
    waits = {"timeout": CONNECT, "banner_timeout": CONNECT, "auth_timeout": SILENCE}
    waits["channel_timeout"] = SILENCE  # paramiko's own is an hour
    return {**waits, **by_user}


def _missing(error: ImportError, url: str) -> MissingLibraryError:
    scheme = url.partition("://")[0]
    extra = _EXTRAS.get(url.rpartition("::")[2].partition("://")[0])
    return MissingLibraryError(
        f"{scheme}:// cannot be read here: {str(error).lower()}",
        hint=f"pip install 'serialpack[{extra}]'" if extra else None,
        path=url,
    )


async def _client(**settings: Any) -> Any:
    """A session of aiohttp that gives up when the server is silent, not when an answer takes long;
    and that checks answers: RangesIgnored where the server gives the whole file instead of a part,
    Changed where the file is another one than at the last request."""
    import aiohttp

    #: URL -> the ETag of the file at the last request, or its time.
    seen: dict[str, str] = {}

    async def looked_at(request: Any, handler: Any) -> Any:
        answer = await handler(request)
        if request.method != "GET" or "Range" not in request.headers or answer.status >= 300:
            return answer
        name, tag = str(request.url), answer.headers.get("ETag", "")
        tag = tag or answer.headers.get("Last-Modified", "")
        if answer.status == 200:
            raise RangesIgnored(cast("IO[bytes]", _Answer(asyncio.get_running_loop(), answer)))
        first = request.headers["Range"].startswith("bytes=0-")
        if not first and seen.get(name, tag) != tag:
            answer.close()
            raise Changed
        seen[name] = tag
        return answer

    silence = settings.pop("timeout", SILENCE)  # a number, where a configuration has it
    if isinstance(silence, int | float):
        silence = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT, sock_read=silence)
    settings = {"timeout": silence, "trust_env": True, **settings}
    # A part of a compressed body would not be that part of the file.
    settings["headers"] = {"Accept-Encoding": "identity", **settings.get("headers", {})}
    return aiohttp.ClientSession(middlewares=(looked_at,), **settings)


def status_of(url: str) -> os.stat_result:
    """The status of the file at ``url``, as ``os.stat`` has it for a file on a disk; errors as of
    ``trouble.tried``."""
    fs, path = system_of(url)
    fs.invalidate_cache(path)
    return _as_stat(url, _info(fs, path, url))


def _info(fs: Any, path: str, url: str) -> dict[str, Any]:
    """What ``fs`` says of the file at ``path``; errors as of ``trouble.tried``."""
    # By HTTP that is a HEAD, and a GET where it fails.
    asks_again = "http" in fs.protocol
    found: dict[str, Any] = tried(lambda: fs.info(path), url, "read", asks_again=asks_again)
    return found


def _as_stat(url: str, info: dict[str, Any]) -> os.stat_result:
    """What a file system says of a file (``info``), as a status. ``st_mtime_ns`` is None where it
    says no time. ``st_ino`` is made of the URL and the ETag: it differs for another file, and for a
    changed one.
    """
    if info.get("type") == "directory":
        raise IsADirectoryError
    tag = next((info[key] for key in _TAGS if info.get(key)), None)
    found = next((info[key] for key in _TIMES if info.get(key)), None)
    when = None if found is None else _nanoseconds(found)
    seconds = (when or 0) // 10**9
    mode = stat.S_IFREG | 0o666 & ~_umask()
    size = -1 if info.get("size") is None else int(info["size"])
    fields = mode, hash((url, tag)), 0, 1, 0, 0, size, seconds, seconds, seconds
    return os.stat_result(fields, {"st_mtime_ns": when})


def _nanoseconds(when: Any) -> int | None:
    """A time as a file system gives it (text, datetime or seconds) in ns since 1970; None where it
    is none of these."""
    try:
        if isinstance(when, str):
            digits = when[:4].isdigit()
            when = datetime.fromisoformat(when) if digits else parsedate_to_datetime(when)
        if isinstance(when, datetime):
            when = (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
        return int(float(when) * 1e6) * 1000
    except (TypeError, ValueError, OverflowError):
        return None


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def files_below(folder: str) -> list[str]:
    """The paths of all files below ``folder``, relative to it, in the order of their names;
    FileError."""
    fs, path = system_of(folder)
    if "http" in fs.protocol:
        raise FileError("HTTP lists no folders", path=folder, hint="name the files, --files-from")
    root = path.rstrip("/") + "/"
    fs.invalidate_cache(path)
    return sorted(
        found.removeprefix(root)
        for found in tried(lambda: fs.find(path), folder, "list")
        if found.startswith(root) and not found.endswith("/")
    )


def opened(url: str) -> RangedFile | StreamedFile:
    """The file at ``url``, opened to be read: a ``RangedFile`` where its server gives parts of
    it."""
    fs, path = system_of(url)
    fs.invalidate_cache(path)
    how: dict[str, Any] = {"cache_type": "none"}  # ``RangedFile`` keeps pieces, and better ones
    file = None
    if "http" in fs.protocol:  # an open file of these knows nothing of itself but its size
        info = _info(fs, path, url)
        how["size"] = info.get("size")
    else:
        file = tried(lambda: fs.open(path, "rb", **how), url, "read")
        info = getattr(file, "details", None) or _info(fs, path, url)
    try:
        found = _as_stat(url, info)
    except IsADirectoryError as error:
        raise as_ours(error, url, "read") from None
    again = partial(status_of, url)
    if found.st_size >= 0 and info.get("partial", True):
        file = file or tried(lambda: fs.open(path, "rb", **how), url, "read")
        fetch = partial(_fetch, file, url)
        try:
            return RangedFile(fetch, found, again, file.close)
        except RangesIgnored as ignored:
            file.close()
            stream = ignored.whole
    else:
        told = {"size": found.st_size} if "size" in how else {}  # else it would ask for that again
        stream = cast(
            "IO[bytes]", tried(lambda: fs.open(path, "rb", block_size=0, **told), url, "read")
        )
    _say_streamed(url)
    return StreamedFile(stream, url, found, again)


class _Answer:
    """The answer of an HTTP server, read as it comes; ``loop``: the event loop that aiohttp runs
    in."""

    def __init__(self, loop: Any, answer: Any) -> None:
        self._loop = loop
        self._answer = answer

    def read(self, size: int = -1) -> bytes:
        from fsspec.asyn import sync

        data: bytes = sync(self._loop, self._answer.content.read, size)
        return data

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._answer.close)


@lru_cache
def _say_streamed(url: str) -> None:
    """Log that the file at ``url`` is read through from its front; once for each URL, as a file may
    be opened several times."""
    log.warning("%s: the server gives no parts of it; it is read through from the front", url)


def _fetch(file: Any, url: str, start: int, stop: int) -> bytes:
    """The bytes ``start`` to ``stop`` of the open ``file``, asked of its server; errors as of
    ``trouble.tried``, and RangesIgnored."""

    def fetched() -> bytes:
        if hasattr(file, "readv"):
            data = sftp.part(file, start, stop)
        else:
            file.seek(start)
            data = file.read(stop - start)
        if len(data) < stop - start:
            raise Changed
        return data

    try:
        return tried(fetched, url, "read")
    except RangesIgnored as error:
        if start:  # the server gave parts before
            raise as_ours(error, url, "read") from error
        raise
