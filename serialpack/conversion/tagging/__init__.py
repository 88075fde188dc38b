"""Values that JSON has no words for, written as tags of MongoDB Extended JSON v2, and read again.

Enter at ``extended_json.tag`` and ``extended_json.untag``; the docstring of ``extended_json`` has
the table of all tags. ``tagger`` writes them and ``untagger`` reads them. Both ask ``python_tags``
for the values of Python's own types, and ``library_tags`` for those of libraries (PyMongo, NumPy,
cbor2, msgpack). ``failures`` has the errors, which say where in a record a value stands.

- tag: a map of JSON whose key begins with ``$``, as ``{"$uuid": "..."}``
"""
