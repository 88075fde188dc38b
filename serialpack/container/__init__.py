"""The container, version 1: frames, header, block headers, index, ends; reader and writer.

Enter at ``writer.MemberWriter`` to write, at ``reader.read_members`` for a stream, at ``seek``
for a file that can be sought. Knows nothing of what is in a block. The normative text is
man/spk.5.

- member: header, blocks, index, end: what one ``pack`` writes; a file is one or more of them
- envelope: zstd frames that any zstd tool reads, or frames of our own
- frame: a tag, a body and its checksum; part: one payload of a block
"""
