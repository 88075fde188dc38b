"""Far files: what a URL names, read and written as what lies on a disk is.

``is_far`` tells a URL from a path, and from that of a store of keys and values, which ``is_store``
knows; all else here is only imported for one. ``urls`` is about the names: what is shown of one (no
passwords), and what it is beside. ``systems`` opens files by fsspec, which knows the protocols,
their credentials and their settings; ``reading`` reads from any place with few requests;
``upload`` writes what appears whole or not at all; ``trouble`` has the words for what goes wrong,
and tries again where that helps.

Far: anything with a scheme (``s3://``, ``https://``, ``memory://``), also a chain of them
(``zip://a.json::https://host/b.zip``). ``./s3://x`` is a path.
"""

from typing import TypeGuard

#: Stores of keys and values, which are named like URLs too: their files are here (``stores``).
STORES = frozenset({"sqlite-kv", "lmdb", "tokyocabinet"})


def is_store(path: object) -> TypeGuard[str]:
    """Whether ``path`` is the URL of a store."""
    return isinstance(path, str) and "://" in path and path.partition("://")[0] in STORES


def is_far(path: object) -> TypeGuard[str]:
    """Whether ``path`` is a URL. One letter is no scheme: it is a drive of Windows."""
    if not isinstance(path, str) or "://" not in path or is_store(path):
        return False
    scheme = path.partition("://")[0]
    return len(scheme) > 1 and all(c.isalnum() or c in "+-.:" for c in scheme)
