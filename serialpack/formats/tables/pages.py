"""The pages of Parquet's columns: how much they hold, before pyarrow makes room for it.

Source: https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
"""

from collections.abc import Iterator
from struct import Struct
from typing import Any, NamedTuple

from serialpack.formats.tables.library import arrow
from serialpack.formats.tables.room import Room
from serialpack.formats.tables.thrift import Bytes, ThriftReader

# The numbers of fields in Thrift's structs: of ColumnMetaData;
_CODEC, _COMPRESSED, _PAGES, _DICTIONARY = 4, 7, 9, 11
# of PageHeader, of the headers in it for pages of values, and of these.
_PAGE_TYPE, _PAGE_SIZE, _PAGE_STORED = 1, 2, 3
_DICTIONARY_PAGE = 2
_PAGE_KINDS, _PAGE_VALUES = (5, 8), 1

#: The codecs of Parquet that pyarrow has, by their numbers: what it calls them.
_CODECS = {1: "snappy", 2: "gzip", 4: "brotli", 6: "zstd", 7: "lz4_raw"}

#: A dictionary of more bytes is not looked through.
_MOST_WORDS = 4 << 20

#: What stands before each text in a dictionary: its length.
_LENGTH = Struct("<I")


class Page(NamedTuple):
    """A page of a column. ``stored``: its bytes in the file, with its header; ``bytes``: how many
    its content decompresses to; ``start``, ``end``: where that content is in the file."""

    stored: int
    values: int
    bytes: int
    is_dictionary: bool
    start: int
    end: int


def pages(data: Bytes, about: dict[int, Any], seen: Room) -> Iterator[Page]:
    """The pages of a column, which ``about`` (its metadata) describes; ValueError, or what wrong
    types raise. Malformed where two pages, as noted in ``seen``, share bytes."""
    at = about.get(_DICTIONARY) or about[_PAGES]
    end = min(at + about[_COMPRESSED], len(data))
    while at < end:
        if at < 0:
            raise ValueError("a page before the file")
        reader = ThriftReader(data, at)
        page = reader.struct()
        kind = next((page[kind] for kind in _PAGE_KINDS if kind in page), {_PAGE_VALUES: 0})
        if min(page[_PAGE_SIZE], page[_PAGE_STORED], kind[_PAGE_VALUES]) < 0:
            raise ValueError("a size below zero")
        behind = max(min(reader.at + page[_PAGE_STORED], end), reader.at)
        seen.pass_over(behind - at)
        is_words = page[_PAGE_TYPE] == _DICTIONARY_PAGE
        yield Page(behind - at, kind[_PAGE_VALUES], page[_PAGE_SIZE], is_words, reader.at, behind)
        at = reader.at + page[_PAGE_STORED]


def longest_word(data: Bytes, about: dict[int, Any], page: Page) -> int | None:
    """The bytes of the longest text in ``page``, a dictionary; None where it is not looked through.

    Each value of the column may be that text.
    """
    if page.bytes > _MOST_WORDS:
        return None
    words = data[page.start : page.end]
    codec = about[_CODEC]
    if codec:
        if codec not in _CODECS:
            return None
        pa = arrow()
        try:
            words = pa.Codec(_CODECS[codec]).decompress(words, page.bytes, asbytes=True)
        except (pa.ArrowException, OSError, ValueError):  # pyarrow will say so when it reads it
            return None
    longest, at, last = 0, 0, len(words) - _LENGTH.size
    read = _LENGTH.unpack_from
    while at <= last:
        (size,) = read(words, at)
        if size > longest:
            longest = size
        at += _LENGTH.size + size
    return longest
