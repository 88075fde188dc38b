"""Protocol Buffers: delimited messages of google.protobuf.Value, or of the user's schema.

Enter at ``protobuf``, which declares it. ``wire`` reads and writes the wire format by hand.

- delimited: each message behind its length, a varint
"""
