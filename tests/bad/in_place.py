"""The bad files of blocks in place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from xxhash import xxh3_128_digest

from serialpack.container.frames import FRAME_EXTRA, START_OWN, checksum, pack_body
from tests.bad.draft import NONE, RAW, Bad, D, T
from tests.container.mutants import Taken, put

PIECES = [b"what stands before", b"the buffers" * 30]
SHUFFLE, MOST = 64, 64 << 20


def _checks() -> bytes:
    return b"".join(checksum(piece).to_bytes(8, "little") for piece in PIECES)


def _made(
    *,
    flags: int = 10,
    chain: tuple[Any, ...] = (RAW, NONE),
    off: int = 0,
    blocks: int = 1,
    bend: Callable[[list[Any]], object] = lambda _: None,
    digest: bytes = b"",
) -> Callable[[], bytes]:
    """A sound member of a block in place, with one thing bent.

    ``bend`` gets the block header: 4 is the size, 5 the check, 6 the source check, 7 the parts,
    each of stored size, restored size and check. ``off``: bytes too many before the first part.
    """

    def make() -> bytes:
        header = [{"c": list(chain), "f": 0}]
        made = []
        end = len(START_OWN) + FRAME_EXTRA + 1 + len(pack_body(*header))
        for number in range(blocks):
            parts = [[len(piece), len(piece), checksum(piece)] for piece in PIECES]
            size = sum(map(len, PIECES))
            fixed = [1 << 63, number, flags, None, size, checksum(_checks()), None, parts]
            bend(fixed)
            end += FRAME_EXTRA + len(pack_body(fixed, {"p": b""}))
            padding = -end % 64 + off
            made.append(([fixed, {"p": bytes(padding)}], PIECES))
            end += padding + sum(map(len, PIECES))
        tail = [0, [], 1, b"", 0, 0, 0, digest or xxh3_128_digest(_checks() * blocks)]
        return put(Taken(False, header, made, [tail]))

    return make


def blocks_in_place() -> Iterator[Bad]:
    """Rules of blocks in place."""

    def part(field: int, value: int) -> Callable[[list[Any]], object]:
        return lambda fixed: fixed[7][1].__setitem__(field, value)

    def larger(fixed: list[Any]) -> None:
        fixed[7][1][:2] = [MOST + 1] * 2
        fixed[4] = MOST + 1 + len(PIECES[0])

    def many(fixed: list[Any]) -> None:
        fixed[7] += [[MOST, MOST, 1]] * 1000
        fixed[4] += 1000 * MOST
        fixed[5] = checksum(_checks() + b"\1\0\0\0\0\0\0\0" * 1000)

    for name, sentence, error, words, made in (
        ("place", "It begins at a multiple of 64 bytes.", D, "multiple of 64", _made(off=8)),
        (
            "filter",
            "It has no filter.",
            D,
            "a filter or a codec",
            _made(chain=(RAW, [SHUFFLE, 4], NONE)),
        ),
        ("stored", "It has no flag but exact.", D, "as it is", _made(flags=11)),
        ("not-exact", "It is exact.", D, "as it is", _made(flags=8)),
        (
            "source",
            "It has no source check.",
            D,
            "as it is",
            _made(bend=lambda fixed: fixed.__setitem__(6, 5)),
        ),
        ("sizes", "A part has one size.", D, "two sizes", _made(bend=part(1, 331))),
        ("part", "A part has at most 64 MiB.", D, "a part of more than", _made(bend=larger)),
        (
            "check",
            "Its check is that of its parts'.",
            D,
            "another checksum",
            _made(bend=part(2, 5)),
        ),
        ("digest", "The digest is that of its checks.", D, "digest", _made(digest=bytes(16))),
        ("two", "It is the only block.", D, "not the only one", _made(blocks=2)),
        ("many", "It has as many bytes as it says.", T, "truncated", _made(bend=many)),
    ):
        yield Bad(f"bad-in-place-{name}", sentence, error, words, made)
