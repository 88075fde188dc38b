"""Whether a file is a pickle, by how it begins."""

import re

from serialpack.formats import FORMATS
from serialpack.formats.foreign import known_file


def is_framed(head: bytes) -> bool:
    """Whether ``head`` begins with a protocol and a frame of less than 4 GiB, as nothing but a
    pickle does."""
    return head[7:11] == bytes(4)


def pickle_told(head: bytes, named: str) -> str:
    """``named``, the format by a file's name; ``bytes`` where only the name is that of a pickle:
    for an array, or what is compressed."""
    other = FORMATS.by_magic(head)
    is_array = other is not None and other.is_array
    return "bytes" if is_array or known_file(head) is not None else named


def may_be_pickle(head: bytes) -> bool:
    """Whether ``head`` begins as pickles of protocol 2 to 5 usually do."""
    return re.match(rb"\x80[\x02-\x05][\x95\]}\(ccKMJX\x8cN\x88\x89GB]", head) is not None
