"""Records of any shape as tables, and back: CSV, TSV, Parquet, Arrow, Avro.

A table has columns, which must be known before its first row is written. So a source is read
twice: ``survey`` looks at all records and finds which columns there are (``shape``, ``layout``);
then each block of records is written under that layout (``writers``), column by column, and what
was written is read again and compared, column by column. A sound table of text that becomes one
with types makes no records on that way: the columns of a block go through as they are
(``by_columns``).

- which records: ``at`` (a path), ``columnar``, ``header`` (tables within JSON), ``nested`` (dotted
  columns); ``rewindable`` has a source read twice
- which columns: ``shape``, ``shaping`` (as the user said), ``survey_result``, ``zones``
- tables of text: ``to_text``, ``from_text``, ``cells``
- Parquet and Arrow: ``frames``, ``arrow_types``, ``strips``; from one into the other by ``batches``
  with their ``own_types``. Avro: ``union_table``, ``union_types``
- databases: ``to_database``, ``from_database``
- all of them: ``table``, ``carrier``, ``blame`` (the value that is named in an error),
  ``closing_line``

The words:

- cell: what stands in a row for a value; ``cells`` turns columns of values into these and back
- shape: the types, and the keys, of all values that stand in one place of the records
- layout: the columns of a table, and how each is written: as a cell, or as JSON text
- missing: no value at all, which is told apart from null as far as the table can
"""
