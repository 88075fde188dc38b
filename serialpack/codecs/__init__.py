"""The codecs. To add one: a class in a file here, and a line below."""

from __future__ import annotations

from serialpack.codecs.base import Codec
from serialpack.stages.stage import Entry, Registry

CODECS: Registry[Codec] = Registry(
    "codec",
    Entry("none", 0, "serialpack.codecs.none:NoCodec"),
    Entry("zstd", 1, "serialpack.codecs.zstd:Zstd"),
    Entry("zlib", 2, "serialpack.codecs.zlib:Zlib"),
    Entry("bz2", 3, "serialpack.codecs.bz2:Bz2"),
    Entry("xz", 4, "serialpack.codecs.xz:Xz"),
    Entry("lz4", 5, "serialpack.codecs.lz4:Lz4"),
    Entry("snappy", 6, "serialpack.codecs.snappy:Snappy"),
    Entry("brotli", 7, "serialpack.codecs.brotli:Brotli"),
    Entry("lzo", 8, "serialpack.codecs.lzo:Lzo"),
    Entry("blosc-blosclz", 16, "serialpack.codecs.blosc:Blosc"),
    Entry("blosc-lz4", 17, "serialpack.codecs.blosc:Blosc"),
    Entry("blosc-lz4hc", 18, "serialpack.codecs.blosc:Blosc"),
    Entry("blosc-zlib", 19, "serialpack.codecs.blosc:Blosc"),
    Entry("blosc-zstd", 20, "serialpack.codecs.blosc:Blosc"),
    Entry("blosc-snappy", 21, "serialpack.codecs.blosc:Blosc"),
)
