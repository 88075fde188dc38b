"""The ways by which a source becomes a target, of which each conversion takes one.

Most go through ``stream.convert_stream``: blocks of records are read, converted by workers, and
joined; where the target is one document, ``whole`` writes it of all records. Others go without
values: ``copying`` copies the bytes of what is in the target's format already, ``arrays`` the items
of arrays. ``databases`` reads several tables of a database as one map, and makes several of one.
``outcome.Converted`` is what comes of each way, and ``outcome.BlockTally`` counts it.
"""
