"""Sizes as people write them: binary units, ``64K``, ``1M``, ``2.5 GiB``."""

from __future__ import annotations

import re

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)


def parse_size(text: str) -> int:
    """Bytes meant by ``text`` (``65536``, ``64K``, ``1.5 MiB``); ValueError where it is no size."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a size; write bytes or 64K, 1M, 2.5GiB")
    number, unit = match.groups()
    scale = _UNITS[unit.upper()]
    return int(number) * scale if number.isdigit() else int(float(number) * scale)


def format_size(size: int, *, exact: bool = False) -> str:
    """``size`` bytes for a person (``2.5 MiB``); ``exact`` for a chain (``256K``, ``1000``)."""
    if exact:
        for unit in ("G", "M", "K"):
            if size and size % _UNITS[unit] == 0:
                return f"{size // _UNITS[unit]}{unit}"
        return str(size)
    if abs(size) < 1024:
        return f"{size} B"
    value = float(size)
    for unit in ("KiB", "MiB", "GiB", "TiB"):
        value /= 1024
        if abs(value) < 1023.95 or unit == "TiB":
            break
    return f"{value:.1f} {unit}" if value < 100 else f"{value:.0f} {unit}"
