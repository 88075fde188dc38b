"""Records as columns, byte-exactly: pure functions on bytes, which know no container.

Enter at ``stored.block``: ``write`` makes a block of a text, ``read`` gives the very text back.
``parse`` tells values from what stands between them, ``encodings`` makes a column of values
small, ``stored`` writes and reads it all, ``fields`` reads only some fields. The layout is in
man/spk-columns.5.

- token: one value, or the structural text (punctuation, keys, white space) between two values
- gap: the structural text between two values
- node: a gap with the path at which the value behind it belongs
- walk: the numbers of a text's nodes, in order; it has no tokens, and mostly repeats itself
- structure: the nodes and the walk: a text without the values of its columns
- column: the values at one place of all records, as texts (``texts.Texts``)
- stream: an array or bytes as it is stored, with the coder that suits it
"""
