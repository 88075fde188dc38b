"""Golden files: every chain, kept for ever, never changed, always restored."""

from __future__ import annotations

import hashlib
import io
import sys
from pathlib import Path

import pytest

import serialpack
from tests.golden.make import HERE, MTIME, NAME, listed, paths_of, sources, wanted

LISTED = listed()


def test_every_chain_has_its_file_and_every_file_its_line() -> None:
    assert len(LISTED) > 40
    files = {f"{golden.name}.spk" for golden in wanted()}
    # A blosc without snappy is the usual one; no machine of ours could make that file.
    assert files - {"raw+blosc-snappy.spk"} <= set(LISTED)
    assert {p.name for p in HERE.glob("*.spk")} == set(LISTED)


@pytest.mark.parametrize("name", LISTED)
def test_a_golden_file_never_changes(name: str) -> None:
    assert hashlib.sha256((HERE / name).read_bytes()).hexdigest() == LISTED[name][1]


@pytest.mark.parametrize("name", [name for name in LISTED if "," in LISTED[name][2]])
def test_a_golden_archive_restores_its_sources(name: str, tmp_path: Path) -> None:
    wanted = [sources()[source] for source in LISTED[name][2].split(",")]
    report = serialpack.unpack_archive(HERE / name, tmp_path)
    shared = name.startswith("shared-")
    entries = [e for e in report.entries if e.format not in ("folder", "link")]
    entries.sort(key=lambda entry: entry.entry or "")
    paths = paths_of(Path(name).stem, [NAME.format(format=format) for format, _ in wanted])
    for entry, path, (_, data) in zip(entries, paths, wanted, strict=True):
        assert entry.entry == path
        assert (tmp_path / entry.entry).read_bytes() == data
        assert (tmp_path / entry.entry).stat().st_mtime_ns // 10**6 == MTIME // 10**6
        assert not shared or (tmp_path / entry.entry).stat().st_mode & 0o777 == 0o640
    if shared:
        assert (tmp_path / "é/empty").stat().st_mode & 0o777 == 0o750
        assert str((tmp_path / "é/link").readlink()) == "folder 0/x"


@pytest.mark.parametrize("name", [name for name in LISTED if "," not in LISTED[name][2]])
def test_a_golden_file_restores_its_source(name: str) -> None:
    _, data = sources()[LISTED[name][2]]
    out = io.BytesIO()
    try:
        report = serialpack.unpack(HERE / name, out, trust=True)
    except serialpack.MissingLibraryError as missing:
        pytest.skip(str(missing))
    except serialpack.UnsupportedError as other:  # marshal was written by one version of Python
        assert name.startswith("marshal")
        assert sys.version_info[:2] != (3, 11)
        pytest.skip(str(other))
    if report.exact:
        assert out.getvalue() == data
    else:
        assert [line.split() for line in out.getvalue().splitlines()]
        assert LISTED[name][2] == "treacherous"
