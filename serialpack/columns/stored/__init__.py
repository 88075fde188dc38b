"""A block of columns as bytes: written at once, read only as far as somebody asks for it.

Enter at ``block``. ``structure`` (with ``walk`` and ``follow``) stores everything but values,
``write`` and ``read`` the columns, ``streams`` arrays and bytes; ``survey`` tells where the bytes
are. Layout: man/spk-columns.5.

- description: which encoding a column has, with its parameters; small, and read before streams
- context: what encodings share while a column is written
- bundle: a column of the values of many small ones, one after another
- shared frame: small streams that are compressed together, to find each other's repeats
"""
