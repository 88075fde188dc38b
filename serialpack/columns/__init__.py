"""Takes a text of records apart into columns of alike values, and gives the very text back.

Functions on bytes and arrays, which know no container and no chain; ``serializers.columns`` and
``pipeline.fields`` call them. Enter at ``stored.block``: ``write`` makes a block of what
``parse.shape.split`` made of a text, ``read`` gives the text back. On the way of a text:

1. ``parse`` finds its values, and what stands between them: its structure, and columns (``texts``)
2. ``encodings`` makes each column small: a description, and some streams
3. ``stored`` compresses the streams and the structure, puts them into a block, and reads them again

``fields`` gives only some fields of the records, from the columns of these alone; ``bulk`` has what
is done to many short texts at a time. The layout of blocks is in man/spk-columns.5.

- text: the source, or a block of it; or the bytes of one value
- token: one value, or the structural text (punctuation, keys, white space) between two values
- gap: the structural text between two values
- node: a gap together with the place of the value behind it. A text has few different ones
- walk: the number of the node of each value, in order; it has no tokens, and mostly repeats itself
- structure: the nodes and the walk: a text without the values of its columns
- column: the values at one place of all records, as texts
- stream: an array or bytes as it is stored, with the coder that suits it
- ``Broken``: what is raised for stored bytes that no writer of ours has written
"""
