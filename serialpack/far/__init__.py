"""Far files: files that a URL names, read and written as files on a disk are.

Nobody needs this package by itself: ``files.source.Source`` and ``files.targets`` take URLs, too.
``is_far`` tells a URL from a path; the modules are only imported for a URL:

- ``urls``: names. What may be shown of one (no passwords), and what is beside it
- ``systems``: opens files by fsspec, which knows protocols, credentials and their settings
- ``reading``: reads a far file from any place, with few requests
- ``upload``: writes a far file, which appears whole or not at all; ``sftp``: what is special there
- ``trouble``: the words for what goes wrong; tries again where that helps

The words:

- far: named by anything with a scheme (``s3://``, ``https://``, ``memory://``), also by a chain of
  them (``zip://a.json::https://host/b.zip``). ``./s3://x`` is a path
- store: a key-value store, which has a URL, too (``lmdb://PATH``), but whose file is on this
  machine (package ``stores``); ``is_store`` tells it
"""

from typing import TypeGuard

#: The schemes of key-value stores.
STORES = frozenset({"sqlite-kv", "lmdb", "tokyocabinet"})


def is_store(path: object) -> TypeGuard[str]:
    """Whether ``path`` is the URL of a key-value store."""
    return isinstance(path, str) and "://" in path and path.partition("://")[0] in STORES


def is_far(path: object) -> TypeGuard[str]:
    """Whether ``path`` is the URL of a file. One letter is no scheme, but a drive of Windows."""
    if not isinstance(path, str) or "://" not in path or is_store(path):
        return False
    scheme = path.partition("://")[0]
    return len(scheme) > 1 and all(c.isalnum() or c in "+-.:" for c in scheme)
