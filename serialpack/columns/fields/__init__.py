"""Some fields of the records of a block, from their columns alone.

Enter at ``json.Projection`` and ``csv.Rows``, or at ``wanted`` for how fields are named. Values
are copied as they are spelled; brackets and commas are written anew.

- field: a path of keys, written ``name.first``
- untold: fields that the columns of a block do not tell; its text is read then
- projection: the records with only some of their fields
"""
