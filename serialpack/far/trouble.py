"""What goes wrong with far files: it is tried again where that may help, and else put in words."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import re
import time
from collections.abc import Callable, Iterator
from typing import IO, TypeVar

from serialpack.errors import (
    ExistingFileError,
    FileError,
    FolderError,
    ForbiddenFileError,
    MissingFileError,
    SerialpackError,
    changed,
)
from serialpack.far.urls import shown

#: Logs at INFO what is tried again, at WARNING what a server cannot do.
log = logging.getLogger("serialpack.far")

#: How many seconds to wait before each further try.
WAITS = [0.5, 1.0, 2.0, 4.0]

#: For how many seconds a server may be silent, and how many it may take to accept a connection.
SILENCE, CONNECT = 30, 10

#: Statuses of HTTP for which another try may go well (RFC 9110, 15.6; RFC 6585, 4).
_PASSING = {408, 429, 500, 502, 503, 504}

#: The beginnings of paramiko's messages for a server that did not answer in time.
_SILENT_SSH = "error reading ssh protocol banner", "no existing session"

#: The beginning of gcsfs's message for a status of 403, which it tells in no other way.
_FORBIDDEN = "Forbidden"

#: URLs for which the libraries themselves try several times.
_PATIENT = re.compile(r"\b(s3a?|gc?s)://")

Found = TypeVar("Found")


class RangesIgnored(Exception):
    """The server gives the whole file, where a part of it was asked for. ``whole``: that answer,
    open to be read."""

    def __init__(self, whole: IO[bytes]) -> None:
        super().__init__("the server gives no parts of it")
        self.whole = whole


class Changed(Exception):
    """The file was changed between two requests."""


def tried(call: Callable[[], Found], url: str, doing: str, *, asks_again: bool = False) -> Found:
    """The result of ``call``, which is called again a few times where that may help.

    Any error becomes one of ours, with ``url`` as its path; ``doing``: see ``as_ours``. If the
    server is silent, it is asked twice at most, and only once where ``call`` itself ``asks_again``,
    as the libraries of S3 and Google Storage do.
    """
    asks_again = asks_again or bool(_PATIENT.search(url))
    waits = iter(WAITS)
    while True:
        try:
            return call()
        except (RangesIgnored, SerialpackError):
            raise
        except Exception as error:
            silent = _is_silence(error)
            again = _passes(error) and not (silent and asks_again)
            wait = next(waits, None) if again else None
            if wait is None:
                raise as_ours(error, url, doing) from error
            if silent:  # that has taken long enough
                waits = iter(())
            log.info("%s: %s; trying again in %g s", url, _why(error), wait)
            time.sleep(wait)


def as_ours(error: Exception, url: str, doing: str) -> SerialpackError:
    """Our error for ``error``: which file it is, what could not be done (``doing``: "read",
    "write", ...), why, and a hint where there is one."""
    for each in _causes(error):
        if isinstance(each, RangesIgnored):
            each.whole.close()
    if any(isinstance(each, Changed) or _status(each) == 412 for each in _causes(error)) or (
        type(error).__name__ == "FileExpired"
    ):
        return changed(url)
    status = next(filter(None, map(_status, _causes(error))), None)
    kind: type[FileError] = FileError
    if status in (404, 410) or (status is None and _is_missing(error)):
        kind = MissingFileError
    elif status in (401, 403) or isinstance(error, PermissionError) or _forbids(error):
        kind = ForbiddenFileError
    elif isinstance(error, FileExistsError):
        kind = ExistingFileError
    elif isinstance(error, IsADirectoryError):
        kind = FolderError
    hint = None
    if _no_login(error):
        hint = "a key in ~/.ssh or of the agent, or USER:PASSWORD@ in the URL"
    if any("credentials" in type(each).__name__.lower() for each in _causes(error)):
        hint = "set AWS_PROFILE or AWS_ACCESS_KEY_ID, or FSSPEC_S3_ANON=true for a public bucket"
    return kind(f"cannot {doing}: {_why(error)}", path=url, hint=hint)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """``error``, and the errors that caused it. They are needed since fsspec turns any error of
    HTTP into FileNotFoundError."""
    while error is not None:
        yield error
        if type(error).__name__ == "NoValidConnectionsError":  # an error for each address
            yield from error.errors.values()  # type: ignore[attr-defined]
        error = error.__cause__


def _status(error: BaseException) -> int | None:
    """The status of HTTP that ``error`` is about; None where it is about none."""
    named = "code" if type(error).__name__ == "HttpError" else "status"  # gcsfs's error
    found = getattr(error, named, None)
    return found if isinstance(found, int) else None


def _is_missing(error: Exception) -> bool:
    return isinstance(error, FileNotFoundError) and not _network(error)


def _network(error: BaseException) -> BaseException | None:
    """The error of the network among the causes of ``error``; None where none is."""
    return next(
        (
            each
            for each in _causes(error)
            if isinstance(each, TimeoutError | asyncio.TimeoutError | ConnectionError)
            or type(each).__module__.startswith("aiohttp.client")
        ),
        None,
    )


def _is_silence(error: Exception) -> bool:
    """Whether the server did not answer in time."""
    return any(
        isinstance(each, TimeoutError | asyncio.TimeoutError)
        or "TimeoutError" in type(each).__name__  # botocore's
        or str(each).lower().startswith(_SILENT_SSH)
        for each in _causes(error)
    )


def _forbids(error: Exception) -> bool:
    return _no_login(error) or str(error).startswith(_FORBIDDEN)


def _no_login(error: Exception) -> bool:
    """Whether the SSH server accepted none of the keys and passwords."""
    return "Authentication" in type(error).__name__


def _no_host(error: Exception) -> bool:
    return any("DNS" in type(e).__name__ or "gaierror" in type(e).__name__ for e in _causes(error))


def _passes(error: Exception) -> bool:
    """Whether another try may go well: the network, or the server, may be well again by then."""
    if any(isinstance(each, Changed) for each in _causes(error)):
        return False
    status = next(filter(None, map(_status, _causes(error))), None)
    if status is not None:
        return status in _PASSING
    if _no_host(error) or any(type(e).__name__ == "InvalidURL" for e in _causes(error)):
        return False
    found = _network(error)
    return found is not None and getattr(found, "errno", None) != errno.ECONNREFUSED


def _why(error: Exception) -> str:
    """The reason for ``error`` in words, without its URL, in which a password may be."""
    found = list(_causes(error))
    status = next(filter(_status, found), None)
    if status is not None:
        words = str(getattr(status, "message", "") or "").removesuffix(f", {_status(status)}")
        return f"the server answers {_status(status)} {words}".rstrip()
    if _is_silence(error):
        return "the server does not answer"
    if _no_host(error):
        return "there is no such host"
    if _is_missing(error):
        return "no such file"
    if any(type(e).__name__ in ("ClientPayloadError", "ServerDisconnectedError") for e in found):
        return "the connection broke off"
    if isinstance(error, FileExistsError):
        return "it exists already"
    last = _network(error) or error
    number = getattr(last, "errno", None)
    words = os.strerror(number) if last is not error and number else str(last)
    words = words or type(last).__name__
    first = shown(str(words)).splitlines()[0].rstrip(".: ")
    return first[:1].lower() + first[1:]
