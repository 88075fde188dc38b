"""Which kind of file with an array one is, by its first bytes."""

from __future__ import annotations

from serialpack.formats.arrays.header import MAGIC, ArrayHeader, read_header
from serialpack.formats.arrays.volumes import is_mrc, is_nifti, read_mrc, read_nifti
from serialpack.formats.shared.document import Malformed


def header_in(head: bytes) -> ArrayHeader | None:
    """The header of the array in a file that begins with ``head``.

    None where there is none that is known, also where what stands there cannot be.
    """
    try:
        return sound_header_in(head)
    except Malformed:  # a header that lies is one of bytes
        return None


def sound_header_in(head: bytes) -> ArrayHeader | None:
    """As ``header_in``; Malformed where what stands there cannot be."""
    if head.startswith(MAGIC):
        return read_header(head)
    if is_nifti(head):
        return read_nifti(head)
    if is_mrc(head):
        return read_mrc(head)
    return None
