"""What came before xz, which has no mark of its own."""

from __future__ import annotations

import lzma
import struct

from tests.compressed.test_compressed import DATA, read


def test_lzma_of_a_size_and_what_is_none() -> None:
    """As 7-Zip writes it, which its name has to say; and numbers that begin so, or nearly."""
    alone = lzma.compress(DATA, lzma.FORMAT_ALONE)
    sized = alone[:5] + len(DATA).to_bytes(8, "little") + alone[13:]
    assert read(sized, "data.json.lzma") == DATA
    assert read(sized, "data.bin") == sized
    assert read(alone, "data.bin") == DATA
    for numbers in (
        [93, 1, 5, 0],
        [93, 1, 0, 0],
        [93, 3, 0, 1 << 30],
        [93, 100, 0, 7],
        [0x5D, 1, 2, 3],
    ):
        data = struct.pack(f"<{len(numbers)}i", *numbers)
        assert read(data, "data.bin") == data
