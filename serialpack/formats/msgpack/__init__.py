"""MessagePack (https://github.com/msgpack/msgpack/blob/master/spec.md).

Enter at ``msgpack``, which declares it. ``values`` makes values of messages and back, with nothing
dropped on the way; ``heads`` knows how they begin, and ``scan`` looks at bytes to say where they
are broken.

- message: one value, and all that is in it
"""
