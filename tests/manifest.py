"""The lists of golden and bad files: MANIFEST.tsv, a line for each file."""

from __future__ import annotations

from pathlib import Path


def rows_of(manifest: Path) -> dict[str, list[str]]:
    """File name -> the fields of its line, of which that name is the first; nothing where there is
    no list yet."""
    if not manifest.exists():
        return {}
    lines = manifest.read_text(encoding="utf-8").splitlines()[1:]
    return {fields[0]: fields for fields in (line.split("\t") for line in lines)}
