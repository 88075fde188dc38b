"""NIfTI volumes: their numbers as they are stored."""

from __future__ import annotations

from serialpack.formats.arrays.header import ArrayHeader
from serialpack.formats.arrays.rows import VolumeFormat
from serialpack.formats.arrays.volumes import NIFTI_HEADER, read_nifti


class NiftiFormat(VolumeFormat):
    """A NIfTI image in one file; the first index is that of neighbours."""

    about = "a NIfTI image"
    title = "NIfTI"
    lead = NIFTI_HEADER

    def header_size(self, lead: bytes) -> int:
        return read_nifti(lead).size

    def read_header(self, data: bytes) -> ArrayHeader:
        return read_nifti(data)
