"""What a value is: its kinds, when two are the same, where they differ.

Enter at ``equality.difference``, the strict comparison, and ``kinds.KINDS``, the kinds of values
that stages and formats may not hold. ``quick`` finds most pairs the same at the speed of C,
``parts`` and ``contents`` say what a value is made of.

- kind: what a value is, as far as somebody may not hold it: ``bigint``, ``nan``, ``keys``
- difference: a place in a record, what was there and what became of it
- same: of one type and with the same parts, in the same order, to the last bit
"""
