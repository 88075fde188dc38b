"""CSV and TSV.

Enter at ``csv``, which declares both. ``found`` says how a table may be written, ``translated``
reads what is no UTF-8 or has escaped quotes, ``dialects`` tells by the first rows; ``text`` makes
records of lines, maps from the header's names to text; ``rows`` splits lines into fields, and
joins them as the source had them (RFC 4180).

- header: the first line, whose fields are the keys of every record; a table without one is
  headless, and its columns are ``column1``, ``column2``, ...
- dialect: delimiter, encoding, kind of quotes and header, all of which the format's name says
"""
