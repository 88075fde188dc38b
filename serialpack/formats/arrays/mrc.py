"""MRC volumes: their numbers as they are stored."""

from __future__ import annotations

from serialpack.formats.arrays.header import ArrayHeader
from serialpack.formats.arrays.rows import VolumeFormat
from serialpack.formats.arrays.volumes import MRC_HEADER, read_mrc


class MrcFormat(VolumeFormat):
    """An MRC map; the last index is that of neighbours."""

    about = "an MRC map"
    title = "MRC"
    lead = MRC_HEADER

    def header_size(self, lead: bytes) -> int:
        return read_mrc(lead).size

    def read_header(self, data: bytes) -> ArrayHeader:
        return read_mrc(data)
