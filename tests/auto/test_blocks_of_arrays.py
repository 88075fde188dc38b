"""How an array is cut into blocks: by its length, chain, and what that leaves; never by cores."""

from __future__ import annotations

from serialpack.auto.arrays.blocks import block_size
from serialpack.auto.arrays.trial import ArrayChain
from serialpack.codecs import CODECS
from serialpack.filters import FILTERS
from serialpack.formats.shared.large import NumbersLayout
from serialpack.stages.chain import parse_stage


def test_numbers_that_match_none_are_cut_for_the_threads() -> None:
    """LZMA leaves as much of the halves of numbers in which little comes again."""
    layout = NumbersLayout(128, "f", 8, False, (1,))
    lzma = parse_stage(CODECS, "xz:6@8")
    for share, blocks_made in ((0.75, 2), (0.25, 1)):
        size = block_size(layout, ArrayChain((), lzma, share), 2_500_000, 16 << 20, 9)
        assert -(-2_500_000 // size) == blocks_made


def test_what_says_anew_of_each_block_how_numbers_are_spread_gets_all_where_size_counts() -> None:
    """And else so many that this takes next to nothing; two, which are packed side by side, where
    each has chunks of its own in any case, and no differences or columns that begin anew."""
    layout = NumbersLayout(128, "f", 8, False, (1,))
    delta = (parse_stage(FILTERS, "delta:8"),)
    for effort, filters, columns, length, share, blocks_made in (
        (9, (), "", 4_800_000, 0.5, 1),
        (3, (), "", 4_800_000, 0.5, 4),
        (3, (), "", 4_800_000, 0.05, 2),
        (3, (), "", 4_800_000, 0.025, 2),
        (3, (), "", 4_800_000, 0.02, 1),
        (3, (), "", 2_000_000, 0.06, 1),
        (3, delta, "", 4_800_000, 0.025, 1),
        (3, (), "=2", 4_800_000, 0.025, 1),
    ):
        pcodec = parse_stage(CODECS, f"pcodec:9@f8{columns}")
        chain = ArrayChain(filters, pcodec, share)
        size = block_size(layout, chain, length, 16 << 20, effort)
        assert -(-length // size) == blocks_made
