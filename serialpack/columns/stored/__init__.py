"""A block of columns as bytes: written at once, read only as far as somebody asks for it.

Enter at ``block``. The layout is in man/spk-columns.5. The modules:

- a block: ``block`` (both ways), ``survey`` (how many bytes each column takes)
- its structure: ``structure``; the walk in it is written and read by ``walk``, restored by
  ``follow``
- its columns: ``write`` and ``read``; ``shared`` finds small streams that share a frame
- what encodings are given: to write, a ``coding.Context``; to read, a ``source.ColumnSource``
- the bytes themselves: ``streams`` (arrays and bytes under zstd, LZMA or pcodec), ``wire`` (numbers
  in descriptions)

The words:

- description: which encoding a column has, with its parameters: few bytes, read before its streams
- context: under what conditions a column is encoded, and with what effort
- coder: what a stream is compressed with
- bundle: the values of many columns of few values, one after another, as one column
- group, shared frame: small streams of one kind, compressed together, to find each other's repeats
"""
