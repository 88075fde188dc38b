"""Any format to any other: kept, refused, or changed as the user names it.

Enter at ``files.convert`` for files, at ``stream.convert_stream`` for what is between: blocks of
records are read (``reading``), written in the target (``targets``) and joined (``joining``), each
proved.

- loss: what a target does not hold, changed by a rule that ``--lossy`` names (``losses``)
- tag: how ``--tagged`` writes a value that JSON has no words for (``tagged``)
- structure: whether records are a document, the elements of an array, the members of a map, or
  one after another
- left out: a broken record under ``--skip-bad``
"""
