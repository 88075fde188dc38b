"""Compressed sources, read as what is in them: gzip, zstd, bzip2, xz, lzma, LZ4 frames, brotli.

Enter at ``source.decompressed``, which gives a file of what is in a file. Several members
(frames, streams) one after another are one file, as their own tools have it.

- member: one compressed stream of several
"""
