"""What a source says and Python's values do not hold: found, then refused, or lost as is allowed.

Enter at ``reading.parse_lossy``, which reads a block and notes what is lost of it; at ``exact`` for
the numbers and times of text formats, at ``utf8`` for text that is not UTF-8; at
``changes.Changer`` to change some values of records.

- loss: a change of a value that a rule of ``--lossy`` allows, counted and told
- marks: the values that a reader could not hold and changed, noted while it reads
- unheld: what a source says and no value of Python holds
- inexact: of one number or time, that Python's value is another (``exact.Inexact``): caught where
  a record is read, and told as unheld, or as the loss that was allowed
"""
