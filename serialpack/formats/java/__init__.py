"""Java serialization streams, which are read only.

Enter at ``java``, which declares it. ``read`` makes values of what javaobj finds in a stream, and
refuses what has no like in Python.

- stream: what an ObjectOutputStream wrote (Java Object Serialization Specification, 6)
"""
