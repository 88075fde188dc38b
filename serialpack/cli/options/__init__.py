"""What may be asked for on the command line, and what was.

Enter at ``declared.Verb``, by which each verb says its options, and at ``requests``, which are
these with the values given, frozen. What a verb must find out before it begins is here too; of a
file that takes its name, its header or its first bytes, and nothing here writes.

- ``values``: the types of the values that options take
- ``misused``, ``other_options``, ``other_words``: what is wrong with words, and which were meant
- ``meant``: the format that the name of an output says
- ``chosen``: the entries of an archive that globs choose
"""
