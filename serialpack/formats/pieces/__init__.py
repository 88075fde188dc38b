"""Files and large records that are written in pieces, in bounded memory.

Enter at ``join.Join``, which says for each format what stands around and between the pieces that
the blocks of a file became; at ``parts.rewritten`` for one record that is too large to be there as
values, and at ``parts.Cutter`` for what cuts it. ``keys`` finds a key that stands in two pieces.

- piece: what one block of records became in the format that is written
- part: a small map or array of some members or elements of a large record
- cutter: what finds the parts of large records in the text of a block
"""
