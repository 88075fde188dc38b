"""CSV and TSV.

Enter at ``csv``, which declares both. ``found`` says how a table may be written, ``translated``
reads what is no UTF-8 or has escaped quotes, ``dialects`` tells by the first rows; ``text`` makes
records of lines, maps from the header's names to text, and ``by_columns`` gives that text column by
column; ``tokens`` has the grammar (RFC 4180), ``style`` writes rows as the source had them, and
``quoting`` a column's cells, with ``arrow_quoting`` all at once. ``uneven`` has rows of other
lengths, ``returns`` lines of old Macs, ``above`` comments and titles above a table, ``parts`` rows
of very many columns; ``join`` puts the rows of blocks together.

- header: the first line (behind ``sep=;``, see ``serialpack.csv_front``), whose fields are the keys
  of every record; a table without one is headless, its columns are ``column1``, ``column2``, ...
- dialect: delimiter, encoding, kind of quotes and header, all of which the format's name says
- tokens: fields and ends of records. All that reads CSV takes them from ``tokens``, but for
  ``columns.parse.csv``: it needs the place of each field, which NumPy tells in a fifteenth of the
  time (14 ms for 2.9 MB; the pattern takes 240), while NumPy's start alone takes longer than all
  of a plain ``pack`` (145 ms and 105). ``tests/formats/test_csv_tokens.py`` holds the two to each
  other
- raw: a field as it stands in the text, with its quotes
"""
