"""The kinds of stores that tests run with, as far as they are installed here."""

from __future__ import annotations

from pathlib import Path

import pytest

from serialpack.stores.registry import store_kind

#: What a file of each kind is called.
NAMES = [
    ("sqlite-kv", "s.db"),
    ("lmdb", "s.lmdb"),
    ("tokyocabinet", "s.tch"),
    ("tokyocabinet", "s.tcb"),
]

ON_DISK = pytest.mark.parametrize(
    ("scheme", "name"),
    [
        pytest.param(
            *each,
            marks=pytest.mark.skipif(store_kind(each[0]).missing() is not None, reason=each[0]),
        )
        for each in NAMES
    ],
    ids=[name for _, name in NAMES],
)


def url_of(folder: Path, scheme: str, name: str) -> str:
    return f"{scheme}://{folder / name}"
