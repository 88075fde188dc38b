"""What came before xz, which has no mark of its own."""

from __future__ import annotations

import lzma
import struct

from tests.compressed.test_compressed import DATA, read


def test_lzma_of_a_size_and_what_is_none() -> None:
    """As joblib and 7-Zip write it; and numbers that begin nearly so."""
    alone = lzma.compress(DATA, lzma.FORMAT_ALONE)
    assert read(alone[:5] + len(DATA).to_bytes(8, "little") + alone[13:]) == DATA
    for numbers in ([93, 1, 0, 0], [93, 3, 0, 1 << 30], [93, 100, 0, 7], [0x5D, 1, 2, 3]):
        data = struct.pack("<4i", *numbers)
        assert read(data, "data.bin") == data
