"""What the first byte of a MessagePack value says of it: type, size, where a length stands.

For the format, for columns and for the check of depth, none of which may import another.

Specification: https://github.com/msgpack/msgpack/blob/master/spec.md
"""

from __future__ import annotations

#: First bytes whose low bits are a count or a length.
FIX_MAP, FIX_LIST, FIX_STRING, NEGATIVE = 0x80, 0x90, 0xA0, 0xE0
#: First bytes of values with a length or a count behind them. For the first three it takes 1, 2 or
#: 4 bytes, for the others 2 or 4: each next larger one has the next first byte.
BINARY_8, EXTENSION_8, STRING_8, LIST_16, MAP_16 = 0xC4, 0xC7, 0xD9, 0xDC, 0xDE
NIL, NEVER_USED, FALSE_BYTE, TRUE_BYTE, FLOAT_32, FLOAT_64 = 0xC0, 0xC1, 0xC2, 0xC3, 0xCA, 0xCB
UNSIGNED_8, SIGNED_8, FIX_EXTENSION = 0xCC, 0xD0, 0xD4

#: First byte of a text, of bytes or of an extension -> bytes of the length behind it.
LENGTHS = {
    tag + power: 1 << power for tag in (BINARY_8, STRING_8, EXTENSION_8) for power in range(3)
}
#: First byte of a list or a map -> bytes of the count behind it.
COUNTS = {tag + power: 2 << power for tag in (LIST_16, MAP_16) for power in range(2)}
#: First byte of a number -> bytes of the number behind it.
NUMBERS = {
    **{FLOAT_32 + power: 4 << power for power in range(2)},
    **{UNSIGNED_8 + power: 1 << power for power in range(4)},
    **{SIGNED_8 + power: 1 << power for power in range(4)},
}
#: First byte of an extension of a fixed size -> bytes behind its type.
FIXED_EXTENSIONS = {FIX_EXTENSION + power: 1 << power for power in range(5)}

#: All first bytes of maps, and of lists.
MAPS = frozenset({*range(FIX_MAP, FIX_LIST), MAP_16, MAP_16 + 1})
LISTS = frozenset({*range(FIX_LIST, FIX_STRING), LIST_16, LIST_16 + 1})
#: All first bytes of texts.
STRINGS = frozenset({*range(FIX_STRING, NIL), *range(STRING_8, STRING_8 + 3)})


def _sizes() -> bytes:
    sizes = [1] * 256
    for length in range(NIL - FIX_STRING):
        sizes[FIX_STRING + length] += length
    for behind in (LENGTHS, COUNTS, NUMBERS):
        for first, size in behind.items():
            sizes[first] += size
    for first, size in FIXED_EXTENSIONS.items():
        sizes[first] += 1 + size
    for power in range(3):
        sizes[EXTENSION_8 + power] += 1  # its type
    return bytes(sizes)


#: By first byte, the bytes of a value: without the values in it, and without those bytes that a
#: length behind its first byte counts.
SIZES = _sizes()
