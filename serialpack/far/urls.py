"""URLs of far files: what may be shown of one, and names made of it.

No message, report or container may hold a password. So ``shown`` takes it off as soon as a URL
comes in, and remembers it; everybody else has the shown URL. Only ``address``, which is called to
open a file, puts the password back, also into another URL on the same host
(``sftp://host/a.json.spk``, the output).
"""

from __future__ import annotations

import re
from urllib.parse import unquote

#: The scheme and the host of a URL, with a login, which ends at the last ``@``. In URLs of archives
#: and local files, a path stands in place of the host.
_SCHEME = r"\b((?!zip:|tar:|libarchive:|memory:|file:|local:)[A-Za-z][A-Za-z0-9+.-]+://)"
_HOST = re.compile(_SCHEME + r"([^/?#\s]+)")
_LOGIN = re.compile(_SCHEME + r"([^/?#\s]*)@([^/?#\s@]*)")

#: The parameters of a query that are as good as a password: those of signed URLs (S3, Google,
#: Azure), and others by their usual names.
_SECRET = re.compile(
    r"([?&](?:x-(?:amz|goog)-(?:signature|credential|security-token)|signature|sig|token"
    r"|access[_-]?token|auth|api[_-]?key|key|password|awsaccesskeyid|googleaccessid)=)([^&#\s]+)",
    re.I,
)

#: Schemes by which files are only read.
_READ_ONLY = ("http", "https", "zip", "tar", "libarchive", "github", "gist", "data", "jar")

#: What ``shown`` took off: scheme and host -> login; shown URL -> URL with the secrets in its
#: query.
_logins: dict[str, str] = {}
_signed: dict[str, str] = {}


def shown(text: str) -> str:
    """``text`` without the passwords of the URLs in it, which are remembered for ``address``."""

    def login(found: re.Match[str]) -> str:
        scheme, secret, host = found.groups()
        _logins[scheme + host] = secret
        return scheme + host

    if "://" not in text:
        return text
    bare = _LOGIN.sub(login, text)
    hidden = _SECRET.sub(r"\1...", bare)
    if hidden != bare:
        _signed[hidden] = bare
    return hidden


def address(url: str) -> str:
    """``url`` with the passwords that ``shown`` took off it, or off another URL on the same
    host."""

    def login(found: re.Match[str]) -> str:
        scheme, host = found.groups()
        secret = _logins.get(scheme + host)
        return f"{scheme}{secret}@{host}" if secret else scheme + host

    return _HOST.sub(login, _signed.get(url, url))


def root_of(url: str) -> str:
    """The part of ``url`` before its path, with the ``/`` at which that begins."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}/"


def base_name(url: str) -> str:
    """The base name of the file at ``url``, as a copy on a disk would have it; may be empty."""
    link = next((each for each in url.split("::") if "://" in each), url)
    scheme, _, path = link.partition("://")
    if scheme in ("http", "https"):
        path = unquote(re.split("[?#]", path)[0])
    return path.rsplit("/", 1)[-1] if "/" in path or scheme not in ("http", "https") else ""


def is_writable(url: str) -> bool:
    """Whether files can be written to the place of ``url``: not by HTTP, and not into an
    archive."""
    return "::" not in url and url.partition("://")[0].lower() not in _READ_ONLY
