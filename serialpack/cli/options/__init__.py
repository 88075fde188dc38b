"""What may be asked for on the command line, and what was.

Enter at ``declared.Verb``, by which each verb says its options, and at ``requests``, which are
these with the values given, frozen. What a verb must find out before it begins is here too; of a
file that takes its name, its header or its first bytes, and nothing here writes.

- ``values``: the types of the values that options take
- ``usage_errors``: what is wrong with the options; ``foreign_options``, ``foreign_words``: those of
  other programs, and which were meant
- ``implied_format``: the format that the name of an output says
- ``chosen_entries``: the entries of an archive that globs choose
"""
