"""``verdict``: what becomes of each kind of value in each target, as data.

It is made of what serializers declare and of ``losses.rules``; the documentation's table and the
tests are made of it.
"""

from functools import cache
from typing import NamedTuple

from serialpack.conversion.losses.rules import RULES, TYPED_TABLES, UNIONS
from serialpack.conversion.targets.writers import writers

#: Times that tables with types hold where those of a column are in one zone.
_ZONED = frozenset({"offset-datetime", "zoned-datetime"})


class Verdict(NamedTuple):
    """``same``, ``carried``, ``lost``, or ``refused`` where no rule writes it.

    ``rules``: those that write it, the first that fits. ``partly``: some values of the kind are
    the same.
    """

    word: str
    rules: tuple[str, ...] = ()
    partly: bool = False


@cache
def verdict(kind: str, target: str) -> Verdict:
    """What becomes of values of ``kind``, one of ``KINDS``, written in ``target``."""
    serializer = writers(target, {})[-1].serializer
    # A union would hold them; but who reads it wants one type.
    merged = target in UNIONS and any(
        kind in rule.kinds and target in rule.only for rule in RULES.values()
    )
    if kind not in serializer.cannot | serializer.partly and not merged:
        return Verdict("same")
    zoned = kind in _ZONED and target in TYPED_TABLES
    partly = merged or zoned or kind in serializer.partly
    fit = [name for name, rule in RULES.items() if kind in rule.kinds and rule.is_for(target)]
    carried = tuple(name for name in fit if RULES[name].is_carried(target))
    if carried:
        return Verdict("carried", carried, partly)
    return Verdict("lost", tuple(fit), partly) if fit else Verdict("refused", (), partly)
