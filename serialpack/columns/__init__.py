"""Records as columns, byte-exactly: pure functions on bytes, which know no container.

Enter at ``stored.block``: ``write`` makes a block of a text, ``read`` gives the very text back.
``parse`` tells values from what stands between them, ``encodings`` makes a column of values
small, ``stored`` writes and reads it all, ``fields`` reads only some fields. The layout is in
man/spk-columns.5.

- node: what stands before a value (punctuation, keys, white space), and where the value belongs
- walk: the order in which the nodes of a text follow each other; nearly always the same again
- structure: the nodes and the walk: a text without the values of its columns
- column: the values at one place of all records, as texts (``texts.Texts``)
- stream: an array or bytes as it is stored, with the coder that suits it
"""
