"""After a refusal: reads the source on, and lists in the error every kind of loss in the way.

So the user hears once of all that ``--lossy`` must name, and not of one loss after another.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from serialpack.conversion.losses.losses import Losses
from serialpack.conversion.losses.rules import RULES
from serialpack.conversion.tables.rewindable import LONGEST, TooFar
from serialpack.errors import WRITES_NULL, SerialpackError, ValueRefusedError, Ways
from serialpack.text import number_of
from serialpack.values.kinds import DROPPED, Loss

#: Converts with all losses allowed, and writes nothing: with what counts them, and what is called
#: after each block.
Attempt = Callable[[Losses, Callable[[int, int], None]], object]


_LET_GO = "lets them go"


class _Enough(Exception):
    """The source was read on for long enough."""


def list_losses(
    refused: ValueRefusedError, target: str, asked: list[str], attempt: Attempt
) -> bool:
    """Say in ``refused`` what else would be lost, how often and where first, and what allows it;
    whether anything would.

    ``asked``: the losses that are allowed. Nothing is said where the way out is not to lose any.
    """
    ways = refused.ways
    if ways is None or not ways.rules:
        return True
    losses = Losses(RULES)
    until, late = monotonic() + LONGEST, False

    def stop(_read: int, _written: int) -> None:
        nonlocal late
        if late:  # there was more behind the block at which it was
            raise _Enough
        late = monotonic() > until

    ended = True
    try:
        attempt(losses, stop)
    except (_Enough, TooFar):
        ended = False
    except SerialpackError:
        return False  # it is refused however much may be lost
    found = [loss for loss in losses.report() if not RULES[loss.rule].is_carried(target)]
    more = [loss for loss in found if loss.rule not in asked]
    if not more or (len(more) == 1 and more[0].count == 1):
        return True
    names = [name for name in RULES if name in {*asked, *(loss.rule for loss in more)}]
    so_far = "" if ended else " in the first two seconds"
    told = ", ".join(map(_told, more))
    counted = f"in all{so_far} {told}"
    effect = WRITES_NULL if (*names,) == ways.rules and ways.effect == WRITES_NULL else _LET_GO
    refused.ways = Ways((*names,), effect, ways.keeps, counted=counted)
    refused.hint = str(refused.ways)
    return True


def _told(loss: Loss) -> str:
    some = number_of(loss.count, *DROPPED.get(loss.rule, (loss.rule, loss.rule)))
    return f"{some} (first in record {loss.record}, {loss.value_path})"
