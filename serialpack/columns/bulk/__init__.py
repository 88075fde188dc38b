"""Many short texts at a time, by a few calls of NumPy: what parsing and encodings have in common.

There is no one way in: each module has some functions on arrays, which know nothing of formats or
of encodings. By what they do:

- cut and join: ``pieces`` (columns from pieces of bytes, parts of columns, several as one),
  ``copying`` (the copying itself)
- find equal ones: ``numbering`` (pieces of a text, with numbers in order of first appearance),
  ``groups`` (values of a column, with numbers in no particular order, which takes less time)
- look inside: ``digits`` (decimal digits to integers and back), ``tokens`` (runs of digits and of
  letters), ``windows`` (eight bytes as one integer, for ``groups`` and ``digits``)

The words:

- piece: some bytes that stand together in an array, given by their start and their length
- text, value: a piece that is a value of a column (``columns.texts.Texts``)
"""
