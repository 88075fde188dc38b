"""Compressed files (``a.json.gz``): read as what is in them, and written compressed.

The compressions are gzip, zstd, bzip2, xz, lzma, LZ4 frames and brotli; each is declared once, in
``_compressions.KINDS``. Enter at ``source.decompressed``, which turns a source into a source of its
decompressed bytes, and at ``write.compressed_as`` and ``write.compressed_once`` for what is
written. ``pairs`` reads a volume that lies in two files, NAME.hdr and NAME.img, as one; ``pieces``
turns an iterator of bytes into something with ``read``; ``told`` has an error name a compressed
source, and its hint read what is in it.

- member: one complete compressed stream (zstd and LZ4 call it a frame). A compressed file may have
  several, one after another; decompressed they are one file, as with the stock tools
"""
