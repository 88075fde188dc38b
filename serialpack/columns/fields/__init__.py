"""Some fields of the records of a block, from their columns alone.

Enter at ``json.Projection`` and ``csv.Rows``, or at ``wanted`` for how fields are named. Values
are copied as they are spelled; brackets and commas are written anew.

- field: a path of keys, written ``name.first``
- untold: of fields that the columns of a block cannot tell; the text of the block is read then
- projection: the records with only some of their fields
"""
