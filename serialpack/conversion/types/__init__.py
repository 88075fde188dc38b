"""Types out of text: ``--infer`` and ``--types``.

A column of text gets a type where each of its cells can be written again from its value and the
column's one spelling (``spelling``; of doubles as some program writes them, ``conventions``). So
all records are looked at first (``seen``), then each block gets its values (``typing``;
``arrow_cells`` where pyarrow makes those of all cells at once). Where the target has room for it,
how the columns and the file were written is kept with the table (``kept``), and a table of text is
written so again (``untyping``).

- spelling: a type, and how all values of one column are written in it: ``1.50`` with two decimals
- by hand: the user named the type; cells in another spelling are read too, and told
- kept: how a table of text was written, as a typed table keeps it beside its columns
"""
