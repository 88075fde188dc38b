"""The container, version 1: frames, header, block headers, index, ends; reader and writer.

Knows nothing of what is in a block. The normative text is ``man/spk.5``.
"""
