"""What becomes of values that a target does not hold as they are: the rules, and what applies them.

``rules.RULES`` has every rule by name: what it is about, the kinds of values that it changes, and
the targets to which it carries them. ``losses.Losses`` applies those that are allowed and counts
what they changed; ``changes`` does so to values, and ``reversal`` proves of what was carried that
it can be read back. Some values have a module of their own: ``library_values`` (arrays and tables
inside objects), ``literals`` (numbers with their text), ``rounding`` (floats of arrays), ``safety``
(what UUIDs say beside their digits); plain columns are changed whole (``by_columns``).

- carried: all content is there, in a type or shape that the target has; done without being asked
- loss: what the target does not hold; done only where ``--lossy`` names its rule
- dropped: what no value is, as comments; done without being asked, and counted
- kind: the sort of a value, as ``values.kinds`` names it
"""
