"""The strict comparison of JSON texts: the judge behind "the same values".

Texts are compared, not Python values, so nothing that Python would change can hide. Equal means:
the same kinds, keys in the same order, twice where twice, strings the same code points, integers
the same digits (``-0`` is not ``0``), other numbers the same number in decimal (``1.50`` is
``1.5``, and ``-0.0`` is not ``0.0``).
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from typing import Any

from serialpack.formats.base import Difference
from serialpack.values.kinds import ROOT, Path, Spelled, in_order, path_text

_NUMBER = re.compile(r"(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?\Z")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SHOWN = 40


def difference(
    before: Iterator[Any], after: Iterator[Any], *, record: int = 0, literals: bool = False
) -> Difference | None:
    """The first difference between two sequences of records, as ``strict_scanner`` makes them.

    ``record``: the number of the first record. ``literals``: also where a number is spelled in
    another way.
    """
    missing = object()
    after = iter(after)
    for number, old in enumerate(before, record):
        new = next(after, missing)
        if new is missing:
            return Difference(number, "$", shown(old), "nothing", "value")
        if old != new:
            found = _between(old, new, literals)
            if found is not None:
                return found._replace(record=number)
        record = number + 1
    extra = next(after, missing)
    if extra is not missing:
        return Difference(record, "$", "nothing", shown(extra), "value")
    return None


def unheld(records: Iterator[Any], *, record: int = 0) -> Difference | None:
    """The first number that Python cannot hold in records as strict trees."""
    for number, tree in enumerate(records, record):
        stack: list[tuple[Path, Any]] = [(ROOT, tree)]
        while stack:
            path, value = stack.pop()
            if isinstance(value, list):
                stack.extend(((path, i), part) for i, part in enumerate(value))
            elif _is(value, "o"):
                stack.extend(((path, key), part) for key, part in value[1])
            elif _is(value, "f") and float(value[1]) in (float("inf"), float("-inf")):
                return Difference(number, path_text(path), shown(value), "infinity", "overflow")
            elif _is(value, "i") and len(value[1]) > sys.int_info.default_max_str_digits:
                return Difference(number, path_text(path), shown(value), "", "huge-integer")
    return None


def _between(old: Any, new: Any, literals: bool) -> Difference | None:
    """Goes down where trees differ; in the text's order, without recursion."""
    stack: list[tuple[Path, Any, Any]] = [(ROOT, old, new)]
    while stack:
        path, a, b = stack.pop()
        if a == b:
            continue
        if isinstance(a, list) and isinstance(b, list):
            if len(a) != len(b):
                return _different(path, a, b, "value")
            parts = [((path, i), x, y) for i, (x, y) in enumerate(zip(a, b, strict=True))]
        elif _is(a, "o") and _is(b, "o"):
            found = _between_keys(path, a[1], b[1])
            if found is not None:
                return found
            parts = [((path, key), x, y) for (key, x), (_, y) in zip(a[1], b[1], strict=True)]
        else:
            kind = _loss(a, b) or ("digits" if literals else None)
            if kind is not None:
                return _different(path, a, b, kind)
            continue
        stack.extend(reversed(parts))
    return None


def _is(tree: Any, kinds: str) -> bool:
    return isinstance(tree, tuple) and tree[0] in kinds


def _different(path: Path, was: Any, became: Any, kind: str) -> Difference:
    return Difference(0, path_text(path), shown(was), shown(became), kind)


def _between_keys(
    path: Path, a: list[tuple[str, Any]], b: list[tuple[str, Any]]
) -> Difference | None:
    keys, others = [key for key, _ in a], [key for key, _ in b]
    if keys == others:
        return None
    seen = set()
    for key, _ in a:
        if key in seen:
            return Difference(0, path_text((path, key)), shown(key), "", "duplicate-keys")
        seen.add(key)
    if sorted(keys) == sorted(others):
        was, became = in_order(keys, others)
        return _different(path, Spelled(was), Spelled(became), "order")
    kind = "surrogates" if any(map(_SURROGATE.search, keys)) else "value"
    return _different(path, ("o", a), ("o", b), kind)


def _loss(a: Any, b: Any) -> str | None:
    """What is lost where ``a`` became ``b``, two leaves or values of two kinds; or None."""
    if isinstance(a, str):
        return "surrogates" if _SURROGATE.search(a) else "value"
    if not _is(a, "if"):
        return "value"
    mark, text = a
    if mark == "i":
        if text == "-0":
            return "negative-zero"
        return "bigint" if len(text) > 18 else "value"
    if not _is(b, "f"):
        return "overflow" if not _is(b, "i") else "digits"
    was, became = canonical(text), canonical(b[1])
    if was == became:
        return None
    if was[1:] == became[1:]:
        return "value"  # the sign of a zero
    return "digits" if became[1] else "overflow"


def canonical(text: str) -> tuple[str, str, int | str]:
    """A number as sign, digits without zeros around them, and power of ten: the same for all texts
    of one number."""
    match = _NUMBER.match(text)
    if match is None:
        return "?", text, "?"
    sign, whole, fraction, power = match.groups(default="")
    digits = (whole + fraction).lstrip("0")
    bare = digits.rstrip("0")
    if not bare:
        return sign, "", 0  # zero times any power of ten: 0e999 is 0, and no number too large
    down, power = power.startswith("-"), power.lstrip("+-0")
    if len(power) > 1000:
        return sign, bare, text  # nobody means it; equal if written alike
    exponent = -int(power or 0) if down else int(power or 0)
    return sign, bare, exponent - len(fraction) + len(digits) - len(bare)


def shown(tree: Any) -> str:
    """A strict tree as text for a message, shortened."""
    if isinstance(tree, Spelled):
        return tree
    if isinstance(tree, str):
        text = json.dumps(tree if len(tree) <= _SHOWN else tree[:_SHOWN])
    elif isinstance(tree, list):
        return f"an array of {len(tree)}"
    elif _is(tree, "o"):
        return f"an object of {len(tree[1])}"
    elif _is(tree, "if"):
        text = tree[1]
    else:
        return {None: "null", True: "true", False: "false"}.get(tree, repr(tree))
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN // 2]}...{text[-8:]}"
