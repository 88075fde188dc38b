"""marshal data as a source: what Python keeps its compiled modules in, one object after another.

It belongs to one version of Python, and loading what ``marshal.dumps`` did not write may crash
the interpreter.
"""

from __future__ import annotations

import io
import marshal
import os
from typing import Any

from serialpack.formats.python.typecodes import marshal_ends
from serialpack.formats.python.untrusted import UnsafeFormat
from serialpack.formats.shared.document import Malformed
from serialpack.stages.stage import Buffer

VERSION = 4

#: Bytes that no data has; how marshal data of a pair begins, and what ends it with these.
_MARK = os.urandom(16)
_PAIR, _BEHIND = b"(\2\0\0\0", b"s\x10\0\0\0" + _MARK

_FAILURES = (ValueError, TypeError, EOFError, OverflowError, RecursionError, SystemError)


class MarshalFormat(UnsafeFormat):
    """A sequence of objects as ``marshal.dump`` writes them."""

    about = "Python's marshal data, one object after another; reading it can crash Python"
    title = "marshal data"

    def survey(self, data: bytes) -> int:
        return len(marshal_ends(data))

    def load(self, data: Buffer) -> list[Any]:
        return load_marshal(data)

    def write(self, records: list[Any]) -> bytes:
        return dump_marshal(records, VERSION)


def dump_marshal(records: list[Any], version: int) -> bytes:
    """The records, one after another; ValueError for what marshal has no code for, or only less
    deep."""
    if len(records) == 1:
        return marshal.dumps(records[0], version)
    return b"".join([marshal.dumps(record, version) for record in records])


def load_marshal(data: Buffer) -> list[Any]:
    """The objects again, up to the end of ``data``; Malformed where that cannot be.

    Only for bytes that ``dump_marshal`` wrote, or that were surveyed.
    """
    # From memory it is six times as fast as from a file, but does not say where it stopped:
    # one object is all of the data where, in a pair, the mark behind it comes out second.
    try:
        one, second = marshal.loads(b"".join((_PAIR, data, _BEHIND)))
        if second == _MARK:
            return [one]
    except _FAILURES:
        pass
    file, found = io.BytesIO(data), list[Any]()
    at = 0
    while at < len(data):
        try:
            found.append(marshal.load(file))
        except _FAILURES as error:
            raise Malformed(str(error), at) from None
        at = file.tell()
    return found
