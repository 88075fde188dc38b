"""The target of a conversion: what formats are written by, what they need, and the file itself.

``writers.writers`` gives what writes a format; ``verdicts.verdict`` says of each kind of value what
becomes of it there. Some targets want all values in a shape of their own: ``root`` (one document),
``xml_elements`` (text and maps), ``uniform_types`` (arrays: one type at each place) and
``group_order`` (files of datasets). ``joining.Joiner`` writes one file of the pieces that blocks of
records became, and ``sinks.opened_target`` opens the file or stream that it is written to.

- piece: the part of a target's file that one block of records became
"""
