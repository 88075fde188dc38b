"""One block of a source becomes a piece of the target: read, changed, written, and proved.

Enter at ``converter.BlockConverter``, of which each worker has one. It stands on ``rows.RowWriter``
(rows of tables), and that on ``writing.ProvingWriter``, which writes records, reads them again, and
makes the error for a value that does not come back; ``hints`` finds for that what would keep the
value or let it go. Three ways are faster than the usual one: ``structs`` for records with the same
keys, ``flat`` for tables of plain values, column by column, and ``wide`` for records too large to
be there as values. ``members.MembersConverter`` does blocks of the members of one large map.

- proof: what was written is read again and compared with what was read, or with its text
- usual: numbers are read as Python's nearest, and proved by the text that they are written in
"""
