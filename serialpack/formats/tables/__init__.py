"""Parquet and Arrow: tables, whose rows are the records.

Enter at ``parquet`` and ``arrow``, which declare them; ``table`` is what they share. ``records``
makes tables of records and back (``library`` imports pyarrow for it), ``pieces`` blocks of some
rows, ``samples`` a row for a table that has none; ``room`` says how much is in a table, ``pages``
how much in Parquet's before it is read; ``thrift`` and ``flatbuffers`` look into a file as far as
it takes to know what pyarrow would allocate. Columns that Python has no values for: ``far_times``,
``intervals``, ``nested_times``, ``pandas_types``; those that mean an item more than once:
``folded``. ``bits`` compares columns bit for bit.

- footer: the end of a file, which says where its columns are
"""
