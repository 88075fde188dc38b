"""The container format (.spk), version 1: how it is written and read. The normative text is
man/spk.5.

This package knows bytes, sizes and checksums, but nothing of what is in a block: chains and formats
are numbers here. Enter at ``writer.MemberWriter`` to write, at ``reader.read_members`` to read a
stream from its front, at ``seek.find_members`` to read a file from its end, and at
``salvage.find_remains`` for what is left of a damaged file, whose pieces ``scan`` finds and
``remains`` puts together. ``versions`` and ``limits`` hold for all; ``fields`` and ``names`` check
what is read, ``ends`` finds where a member ends.

- member: a header, blocks, an index and an end: what one ``pack`` writes; a file has one or more
- envelope: how a member is wrapped: as zstd frames, which any zstd tool reads, or in our own way
- frame: a tag, a body and a checksum (``frames``); headers, block headers and indexes are frames
- block: a block header, and behind it its payload
- part: a piece of the payload of a block, which has its own sizes and checksum. Most blocks have
  one
- block in place: the one uncompressed block of an object, of any size, which can be mapped to
  memory
- short member: a member of one small block, all of which is said in one frame (``short``)
- small form: one object with few bytes around it, for messages; no member at all (``small``)
- row: what an index says of a block (``index``); what a block says of an entry that it holds, or a
  part of (``entries``; ``rows``, by ``patterns`` of paths and ``series`` of numbers; as it was once
  written, ``rows_first``)
"""
