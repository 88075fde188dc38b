"""What families of formats share.

Enter at ``split.split_records`` for streams of records, at ``document`` for formats that a library
reads and writes whole, at ``lines`` for records that are lines, at ``random_access`` for formats
that look wherever they must in a file. ``large`` finds arrays and long bytes to be packed apart,
``preview`` shows records for ``--head``, ``comments`` finds what no value holds, and a ``tidier``
reads a file without; ``expansion`` and ``recursion`` bound what a value may become and how deep
libraries may go; ``column_types`` finds one type for a column, and ``file_objects`` are what
libraries read or write.

- boundary: where a record ends and the next begins
- malformed: bytes that break the rules of their format (``document.Malformed``), wherever found
- untold: bytes in which nobody can tell records any more, which is no error while they are split
- unwritable, odd, mixed: a value that a format does not write; that no column holds; values that
  one column does not hold together
- depth: how many containers stand within each other
"""
