"""The golden archives."""

from __future__ import annotations

import io
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

#: Archives: name, sources, options and sentence of each; of those that share blocks the options
#: of ``pack_archive``.
ARCHIVES: list[tuple[str, str, dict[str, Any], str]] = [
    (
        "archive-zstd",
        "ndjson,csv,empty,noise",
        {},
        "an archive whose entries have the zstd envelope",
    ),
    (
        "archive-own",
        "ndjson,csv,empty,noise",
        {"codec": "xz"},
        "an archive whose entries have the own envelope",
    ),
    (
        "shared-raw",
        "csv,empty,noise,csv",
        {"shared": {"serializer": "raw"}},
        "entries that share short members",
    ),
    (
        "shared-columns",
        "texts,array,texts,document",
        {"shared": {}},
        "columns across files, with all of JSON",
    ),
    (
        "shared-xz",
        "ndjson,noise",
        {"shared": {"codec": "xz", "owner": True}},
        "one in the own envelope, with owners",
    ),
    (
        "shared-blocks",
        "ndjson,ndjson,ndjson",
        {"shared": {"block_size": 6000}},
        "several blocks, and an index",
    ),
    (
        "shared-rows",
        "csv,empty,noise,csv",
        {"shared": {"serializer": "raw"}},
        "rows of the second form in short members",
    ),
    (
        "shared-rows-blocks",
        "ndjson,ndjson,ndjson",
        {"shared": {"block_size": 6000}},
        "rows of the second form, which the index does not repeat",
    ),
    (
        "shared-rows-xz",
        "ndjson,noise",
        {"shared": {"codec": "xz", "owner": True}},
        "rows of the second form with owners",
    ),
    (
        "shared-rows-names",
        ",".join(["noise"] * 12 + ["long"]),
        {"shared": {"serializer": "raw"}},
        "names with numbers of all kinds, with control characters, in both kinds of members",
    ),
]

#: The paths of the entries of that one.
NAMES = (
    "7",
    "a/0007.txt",
    "a/007.txt",
    "a/12345678901234567890123.txt",
    "b/123e4567-e89b-12d3-a456-426614174000",
    "b/323e4567-e89b-42d3-8456-426614174000",
    "c/0A1B2C3D",
    "c/0a1b2c3d4e5f60718293a4b5c6d7e8f901234567",
    "c/1A1B2C3D",
    "d/%d %%.txt",
    "e/a\nb\tc\x01\x05\x7f",
    "e/\u00e9",
    "f/a\nb",
)


def make_shared(files: dict[str, bytes], mtime: int, how: dict[str, Any]) -> bytes:
    """An archive of ``files``, with a folder and a link."""
    import serialpack

    out = io.BytesIO()
    with TemporaryDirectory() as name:
        folder = Path(name)
        given = {"é/empty": folder / "e", "é/link": folder / "l"}
        (folder / "e").mkdir(0o750)
        (folder / "l").symlink_to("folder 0/x")
        for number, (entry, data) in enumerate(files.items()):
            given[entry] = folder / f"{number}{Path(entry).suffix}"
            given[entry].write_bytes(data)
            given[entry].chmod(0o640)
        for path in folder.iterdir():
            os.utime(path, ns=(mtime, mtime), follow_symlinks=False)
        serialpack.pack_archive({**given}, out, threads=1, **how)
    return out.getvalue()
