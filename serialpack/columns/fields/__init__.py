"""Some fields of the records of a block, from the columns of these alone.

Enter at ``json.Projection`` and ``csv.Rows``: each is given the structure of a block and the wanted
fields, says which columns it needs, and with these writes the records with only these fields.
Values are copied as they are spelled; brackets and commas are written anew. ``pipeline.fields``
calls them.

- how fields are named: ``wanted``
- JSON: ``steps`` says what of one gap and value is written, ``projecting`` goes along the walk
- ``gathered`` puts together what is written

The words:

- field: a path of keys, in a command written ``name.first``
- projection: the records with only some of their fields
- step: a gap and the value behind it, from a certain state on; what is written for it depends on
  nothing else
- untold: said of fields that columns cannot tell; then the text of the block is read
"""
