"""The closing line of a conversion to a table: how many values changed their form on the way, and
the options that give them their first form again."""

from __future__ import annotations

from collections.abc import Collection

from serialpack.conversion.losses.rules import RULES, TEXT_TABLES
from serialpack.conversion.tables.layout import Layout, other_separator
from serialpack.conversion.tables.shaping import NO_COLUMNS, Shaping
from serialpack.text import command_line, in_line, number_of
from serialpack.values.kinds import DROPPED, Loss

#: So many kinds are named in the closing line.
_MOST = 3


def closing_words(carried: list[Loss], back: Collection[str], target: str) -> str:
    """What was carried, in one line; empty where nothing was."""
    if not carried:
        return ""
    most = sorted(carried, key=lambda loss: -loss.count)
    parts = [
        number_of(loss.count, *RULES[loss.rule].what) + _instead(loss) for loss in most[:_MOST]
    ]
    if len(most) > _MOST:
        parts.append("... (-v shows all)")
    total = sum(loss.count for loss in carried)
    words = f" (back: {command_line(back)})" if back else ""
    line = f"{total:,} carried: {', '.join(parts)}{words}"
    if target not in TEXT_TABLES:
        return line.replace("as empty cells", "as null").replace("as an empty cell", "as null")
    return line + _unless(carried, back)


def _instead(loss: Loss) -> str:
    """What there is in the place of what was dropped, where that changes what is left."""
    return f" ({loss.became})" if loss.rule in DROPPED and loss.became else ""


def _unless(carried: list[Loss], back: Collection[str]) -> str:
    if not back or "--null" in back or all(loss.rule != "missing" for loss in carried):
        return ""
    return "; --null null on both ways tells missing from null"


def turned_back_by(
    target: str, layout: Layout, shaping: Shaping, losses: list[Loss]
) -> tuple[str, ...]:
    """The words with which a table of text is read as the records that it was made of."""
    rules = {loss.rule for loss in losses}
    words: list[str] = []
    if layout.kept is not None and not layout.table:
        return ("-F", target, *layout.kept.back) if layout.kept.back else ()
    if layout.union is not None:
        return ()
    if layout.table:  # what is JSON text is declared so
        return ("-F", target, "--nest", *_separator(layout)) if layout.flattens else ()
    if layout.schema is not None:
        nests = layout.flattens or "mixed" in rules
        return ("-F", target, "--nest", *_separator(layout)) if nests else ()
    if rules & {"cells", "null", "missing", "mixed"}:
        words.append("--typed")
    if layout.flattens or layout.json_names:
        words.append("--nest")
        if "json-like" in rules:
            words.append(",".join(map(in_line, layout.json_names)) or NO_COLUMNS)
        words += _separator(layout)
    if shaping.null is not None and rules & {"null", "missing"}:
        words += ["--null", shaping.null]
    if layout.rows == "lists":
        words.append("--no-header")
    return ("-F", target, *words) if words else ()


def _separator(layout: Layout) -> list[str]:
    separator = other_separator(layout)
    return ["--separator", separator] if separator != "." else []
