"""BSON (https://bsonspec.org), as MongoDB's dumps have it.

Enter at ``bson``, which declares it. ``scan`` tells where documents end, and what the library
drops of one as it reads it.

- document: one record, a map
"""
