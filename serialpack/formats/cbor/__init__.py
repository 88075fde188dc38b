"""CBOR (RFC 8949).

Enter at ``cbor``, which declares it. ``scan`` tells where items end from their heads alone;
``pairs`` keeps keys that stand twice; ``tags`` makes values of tags.

- item: one value; head: its first bytes, with type and length
"""
