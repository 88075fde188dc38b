"""Names of far files: what of them is shown, what stands beside them.

No message, report or container may hold a password: a URL is ``shown`` as soon as it comes in, and
that is what travels. Only ``address``, which opens it, knows the rest again. So what is named after
it (``sftp://host/a.json.spk``) has the same credentials.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

#: Scheme and host of a URL; where archives have a path is no host. A login ends at the last ``@``.
_SCHEME = r"\b((?!zip:|tar:|libarchive:|memory:|file:|local:)[A-Za-z][A-Za-z0-9+.-]+://)"
_HOST = re.compile(_SCHEME + r"([^/?#\s]+)")
_LOGIN = re.compile(_SCHEME + r"([^/?#\s]*)@([^/?#\s@]*)")

#: What in a query is as good as a password: in signed URLs (S3, Google, Azure), and by its usual
#: names.
_SECRET = re.compile(
    r"([?&](?:x-(?:amz|goog)-(?:signature|credential|security-token)|signature|sig|token"
    r"|access[_-]?token|auth|api[_-]?key|key|password|awsaccesskeyid|googleaccessid)=)([^&#\s]+)",
    re.I,
)

#: Schemes that nothing is written by.
_READ_ONLY = ("http", "https", "zip", "tar", "libarchive", "github", "gist", "data", "jar")

#: What ``shown`` took off: the logins by scheme and host, and whole URLs by their shown text.
_logins: dict[str, str] = {}
_signed: dict[str, str] = {}


def shown(text: str) -> str:
    """``text``, with URLs in it, without their passwords; ``address`` puts them back."""

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
    """The whole URL that ``shown`` made ``url`` of; or one beside it, with the same credentials."""

    def login(found: re.Match[str]) -> str:
        scheme, host = found.groups()
        secret = _logins.get(scheme + host)
        return f"{scheme}{secret}@{host}" if secret else scheme + host

    return _HOST.sub(login, _signed.get(url, url))


def root_of(url: str) -> str:
    """The part of ``url`` before the path, with the ``/`` there."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}/"


def base_name(url: str) -> str:
    """The name of the file that a copy of ``url`` on a disk would have."""
    link = next((each for each in url.split("::") if "://" in each), url)
    scheme, _, path = link.partition("://")
    if scheme in ("http", "https"):
        path = unquote(re.split("[?#]", path)[0])
    return path.rsplit("/", 1)[-1] if "/" in path or scheme not in ("http", "https") else ""


def is_writable(url: str) -> bool:
    """Whether anything can be written beside ``url``: not by HTTP, nor into an archive."""
    return "::" not in url and url.partition("://")[0].lower() not in _READ_ONLY
