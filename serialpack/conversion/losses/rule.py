"""``Rule``: what one rule of ``rules.RULES`` says.

It names the kinds of values that the rule changes, the targets that have such a rule, and those of
them in which nothing is lost by it.
"""

from typing import NamedTuple

#: Every target.
ALL = frozenset({"*"})
NONE: frozenset[str] = frozenset()


class Rule(NamedTuple):
    """What a rule is about, in one line, and the kinds of values (``KINDS``) that it changes.

    ``carried``: the targets to which it carries them; to any other they are lost by it. ``what``:
    what was carried, and as what, behind a number: of one, and of several. ``only``: the targets
    that have such a rule. ``back``: the option that turns it back.
    """

    about: str
    kinds: frozenset[str]
    carried: frozenset[str] = NONE
    what: tuple[str, ...] = ()
    only: frozenset[str] = ALL
    back: str = ""

    def is_carried(self, target: str) -> bool:
        """Whether nothing is lost by it in ``target``."""
        return bool(self.carried & {target, "*"})

    @property
    def is_loss(self) -> bool:
        """Whether anything is lost by it in some target."""
        return "*" not in self.carried and bool(self.only - self.carried)

    def is_for(self, target: str) -> bool:
        """Whether it changes anything for ``target``."""
        return bool(self.only & {target, "*"})
