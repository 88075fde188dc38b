"""How ``inspect`` shows a file that is no container."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from serialpack.cli.reporting.listings import listing_line, listing_rows, range_words
from serialpack.cli.words import counted
from serialpack.text import number_of, printable, shortened
from serialpack.units import format_size

if TYPE_CHECKING:
    from serialpack.inspection.info import Inspection, Shape
    from serialpack.inspection.look import ArrayLook, Look

#: So many fields are shown.
_MOST_FIELDS = 20

#: Characters of a value that are shown.
_LONGEST = 200

#: Cells that the name of one takes at most.
_MOST_CELLS = 40


def told_of_containers(what: str, *, blocks: bool, columns: bool) -> str:
    """What there is to say of ``--blocks`` and ``--columns`` where the file is no container, but
    ``what``."""
    asked = [name for name, on in (("--blocks", blocks), ("--columns", columns)) if on]
    tell = "tells" if len(asked) == 1 else "tell"
    return f"{' and '.join(asked)} {tell} of containers; this is {what}" if asked else ""


def told_of_columns(found: Inspection, *, columns: bool) -> str:
    """What there is to say of ``--columns`` where the container has none."""
    if columns and all(member.columns is None for member in found.members):
        names = {member.chain.serializer.name for member in found.members}
        return f"no columns, but {' and '.join(sorted(names))}; pack -s columns makes them"
    return ""


def shape_rows(found: Inspection) -> list[tuple[str, str]]:
    """The lines about a file that is no container."""
    shape = found.shape
    assert shape is not None
    rows = [
        ("format", _format(shape)),
        ("size", "not known" if found.size is None else counted(found.size)),
    ]
    if shape.sampled:
        where = (
            "" if shape.sampled == found.size else f", in the first {format_size(shape.sampled)}"
        )
        rows.append(("entropy", f"{shape.entropy:.2f} bits a byte{where}"))
    inside = shape.inside
    if inside is not None and inside.why and inside.damage is None:
        rows.append(("inside", f"cannot be looked at: {inside.why}"))
    look: Look | Shape | None = shape if inside is None else inside.look
    if look is not None and look.array is not None:
        rows += array_rows(look.array)
    if look is not None and look.records_seen:
        rows += _field_rows(look)
    if shape.listing is not None and shape.listing.damage is None:
        rows += listing_rows(shape.listing)
    return [*rows, ("auto", f"{shape.chain}: {shape.why}")]


def holds_rows(held: Any) -> list[tuple[str, str]]:
    """A line for each value of a map, or one for all of another value."""
    parts = held.items() if isinstance(held, dict) and held else [("", held)]
    return [
        ("" if number else "holds", printable(f"{name}: {_json(value)}" if name else _json(value)))
        for number, (name, value) in enumerate(parts)
    ]


def _json(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _format(shape: Shape) -> str:
    """The format in words: ``csv in gzip``."""
    inside = shape.inside
    if inside is None or inside.look is None:
        return _named(shape.format, shape.looks_like)
    return f"{_named(inside.look.format, inside.look.looks_like)} in {inside.compression}"


def _named(format: str, looks_like: str | None) -> str:
    """A format, and what its content looks like where that says more."""
    if looks_like is None:
        return format
    if format == "bytes":
        return looks_like
    seen = looks_like.lower()
    # Of "json (JSON)", "ndjson (JSON)" and "toml (text)" a word is enough.
    same = seen in format or seen == "text" or (format in seen and ":" not in seen)
    return format if same else f"{format} ({looks_like})"


def _field_rows(look: Look | Shape) -> list[tuple[str, str]]:
    """The lines about the records that were looked at, and about their fields."""
    what = f"{look.records_seen:,}"
    if not look.whole:
        first = "the first" if look.records_seen == 1 else f"the first {what}"
        what = f"looked at {first}, in {format_size(look.looked_at)}"
    if look.record_types != ("object",):
        what += f": {', '.join(look.record_types)}"
    rows = [("records", what)]
    shown = list(look.fields.items())[:_MOST_FIELDS]
    rows += [(f"  {shortened(printable(k), _MOST_CELLS)}", ", ".join(t)) for k, t in shown]
    if len(look.fields) > len(shown):
        rows.append(("", f"and {number_of(len(look.fields) - len(shown), 'more field')}"))
    return rows


def array_rows(array: ArrayLook) -> list[tuple[str, str]]:
    """The lines about the least and the greatest number of an array, and about its scale."""
    said = f"not looked for: {array.why}" if array.why else range_words(array, array.dtype)
    rows = [("range", said)]
    if array.scale is not None:
        from serialpack.formats.arrays.header import scale_words

        rows.append(("scale", f"{scale_words(array.scale)}; x are the numbers as they are stored"))
    return rows


def array_line(array: ArrayLook | None) -> dict[str, Any] | None:
    """What ``--json`` says of an array."""
    return None if array is None else array._asdict()


def shape_line(shape: Shape) -> dict[str, Any]:
    """What ``--json`` says of a file that is no container."""
    inside, listing = shape.inside, shape.listing
    return {
        "format": shape.format,
        "looks_like": shape.looks_like,
        "entropy": round(shape.entropy, 4),
        **_look_line(shape),
        "inside": None
        if inside is None
        else {
            "compression": inside.compression,
            "why": inside.why,
            "look": None
            if inside.look is None
            else {
                "format": inside.look.format,
                "looks_like": inside.look.looks_like,
                **_look_line(inside.look),
            },
        },
        "listing": None if listing is None else listing_line(listing),
        "auto": {"chain": str(shape.chain), "why": shape.why},
    }


def _look_line(look: Look | Shape) -> dict[str, Any]:
    """What was seen in the first records, for the line of ``--json``."""
    return {
        "records_seen": look.records_seen,
        "record_types": list(look.record_types),
        "looked_at": look.looked_at,
        "whole": look.whole,
        "fields": {key: list(types) for key, types in look.fields.items()},
        "array": array_line(look.array),
    }
