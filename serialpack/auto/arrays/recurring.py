"""What comes again in a block farther off than a sample is long, of which no sample tells."""

from __future__ import annotations

from serialpack.stages.stage import Buffer

#: One pair of words of four bytes in so many is chosen, and those behind are compared.
_ONE_IN, _WORDS = 1 << 10, 8

#: So large a share of these, of which there are so many at least, must have come before.
_RECURS, _FEW_FOUND = 0.25, 20

#: What came so few words before is in samples too.
_NEARBY = 1 << 14

#: A multiplier that mixes all bits into the highest (Knuth, TAOCP 3, 6.4: 2^32 over golden ratio).
_MIX = 0x9E3779B1

#: Words mixed at a time, so that they stay in the processor's cache.
_STEP = 1 << 16


def recurs(data: Buffer) -> bool:
    """Whether much of ``data`` comes again in it farther off than a sample is long.

    Looked at is what stands behind some pairs of words, chosen by their bits: where they come
    again, it does. What there is too much of is in samples too.
    """
    import numpy as np

    words = np.frombuffer(data, "<u4", len(data) // 4)
    if len(words) < _WORDS:
        return False
    starts = words[: 1 - _WORDS]
    places = []
    for at in range(0, len(starts), _STEP):
        mixed = starts[at : at + _STEP] * np.uint32(_MIX)
        mixed += words[at + 1 : at + 1 + len(mixed)]  # there may be few words that differ
        mixed *= np.uint32(_MIX)
        mixed += np.uint32(1 << 31)  # of zeros there may be many
        places.append(at + np.flatnonzero(mixed < (1 << 32) // _ONE_IN))
    found = np.concatenate(places)
    if not _FEW_FOUND <= len(found) <= 8 * len(words) // _ONE_IN:
        return False
    behind = words[found[:, None] + np.arange(_WORDS)]
    # One number stands for each run of words; equal ones are brought together, in their order.
    keys = behind.astype("<u8") @ (np.uint64(_MIX) ** np.arange(_WORDS, dtype="<u8"))
    order = np.argsort(keys, kind="stable")
    same = keys[order][1:] == keys[order][:-1]
    apart = np.diff(found[order]) > _NEARBY
    return bool(np.count_nonzero(same & apart) > _RECURS * len(found))
