"""The vocabulary of stages: what serializers, filters and codecs have in common.

Enter at ``registry`` for all there are, at ``chain`` for several in a row. ``stage`` is the base
class with its parameters, ``effort`` the dial from -1 to -9 as one table, ``catalog`` what
``inspect --stages`` prints.

- stage: a serializer, filter or codec with its parameters, spelled ``zstd:3``
- chain: serializer, filters and codec, spelled ``msgpack+bitshuffle:4+zstd:3``
"""
