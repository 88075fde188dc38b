"""The chain for an array of numbers: the smallest of those tried on its samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from serialpack.auto.arrays.for_layout import RUNS_TIMES, Chosen, LayoutChoice
from serialpack.auto.arrays.look import Seen
from serialpack.auto.arrays.recurring import recurs
from serialpack.auto.arrays.samples import sample_places
from serialpack.auto.arrays.slower import CUT, HIGH, QUICK, is_quick
from serialpack.auto.arrays.trial import (
    ArrayChain,
    Trials,
    at_most,
    least_of,
    of_all,
    smallest,
    together,
)
from serialpack.codecs import CODECS
from serialpack.formats.shared.large import NumbersLayout, ReadAt
from serialpack.stages.chain import StageSpec, parse_stage, size_of_names
from serialpack.stages.effort import DEFAULT_EFFORT, EFFORTS
from serialpack.stages.stage import Buffer

#: Of fewer bytes all is tried by one thread, where time matters: another one takes more than it
#: saves, in memory too.
_ALONE = 48 << 10

#: What leaves so many times as much of samples leaves more of all.
_SURELY = 1.2

#: So few bytes are looked at whole, by each effort.
_LITTLE = 200_000

#: Where so small a share is left, numbers are nearly all runs: labels of regions, masks, what is
#: mostly zeros; unless differences, or pcodec, leave much less, and not of next to nothing. Few
#: samples tell little of these. Where all that takes long is tried, it saves nothing of so little.
#: Numbers that are counted up evenly are all unlike, of which zstd alone leaves more.
_RUNS, _LITTLE_BETTER, _NOTHING, _HARDLY_ANY, _UNLIKE = 0.1, 1.5, 0.02, 0.001, 0.05

#: Where a quick level leaves less than this of so many bytes of a sample, and of all, there is
#: nothing to look for.
_FEW, _SOME, _NONE = 0.004, 16 << 10, 0.0003


def chosen(
    layouts: Sequence[NumbersLayout],
    length: int,
    read: ReadAt,
    head: Buffer,
    codec: StageSpec,
    effort: int,
    threads: int = 1,
    *,
    packed: bool = False,
) -> Chosen | None:
    """What suits numbers of ``length`` bytes; None where there are too few of them.

    Where time matters least, and all of them are at hand, it leaves no more than what the usual
    effort chooses, which finds others by other samples; of many, as far as samples tell.

    ``layouts``: what they are, or may be. ``read`` gives the bytes between two places. ``head``:
    what they begin with, as much as a block. ``codec``: zstd. ``threads`` try chains side by side.
    ``packed``: the chain with the payload, where the samples are all that there is.
    """
    trials: Trials = {}
    about = layouts, length, read, head, trials

    def own(lower: ArrayChain | None = None) -> Chosen | None:
        return _chosen(*about, codec, effort, threads, lower=lower, packed=packed)

    def usual() -> ArrayChain | None:
        usual = parse_stage(CODECS, codec.name, DEFAULT_EFFORT)
        found = _chosen(*about, usual, DEFAULT_EFFORT, threads, packed=packed)
        return None if found is None else found.best

    if EFFORTS[effort].least_gain or length != len(head):
        return own()
    if length >= _LITTLE:
        lower = usual()
        found = own(lower)
    else:
        found = own()
        quicker = None if found is None or layouts[0].size == 1 else _quicker(found.best)
        lower = quicker or usual()
    return found if found is None or lower is None else _no_larger(found, lower, head, codec)


def _no_larger(found: Chosen, lower: ArrayChain, head: Buffer, codec: StageSpec) -> Chosen:
    """``found``, or ``lower`` in its place where that leaves less of all of ``head``."""
    best, plain, recurring = found
    best = best if recurring or best.share <= plain.share else plain
    if best[:2] == lower[:2] or lower.share > _SURELY * best.share:
        return found
    lower = _packed(lower, head)
    if best.payload is None and not is_quick(best) and len(head) >= CUT:
        # It is packed in several blocks, side by side: to pack all of it first takes far longer.
        if lower.share >= best.share:
            return found
        if lower.codec.name == "zstd":
            lower = lower._replace(codec=at_most(codec, HIGH), payload=None)
        best = lower
    else:
        best = _packed(best, head)
        if lower.share < best.share and lower.codec.name == "zstd":
            best = smallest([best, of_all(head, lower._replace(codec=at_most(codec, HIGH)))])
        best = min(
            [best, lower],
            key=lambda each: each.share + size_of_names(*each.filters, each.codec) / len(head),
        )
    return Chosen(best, plain._replace(share=max(plain.share, best.share)), recurring)


def _quicker(chain: ArrayChain) -> ArrayChain | None:
    """``chain`` with pcodec at the level of the usual effort, which of little may leave less, by
    some bytes; None where its codec is another."""
    if chain.codec.name != "pcodec":
        return None
    level = CODECS.cls("pcodec").params[0].at(DEFAULT_EFFORT)
    codec = chain.codec._replace(values=(level, *chain.codec.values[1:]))
    return chain._replace(codec=codec, payload=None)


def _packed(chain: ArrayChain, head: Buffer) -> ArrayChain:
    """``chain`` with what it makes of all of ``head``, and the share that this is."""
    if chain.payload is None:
        return of_all(head, chain)
    return chain._replace(share=len(chain.payload) / len(head))


def _chosen(
    layouts: Sequence[NumbersLayout],
    length: int,
    read: ReadAt,
    head: Buffer,
    trials: Trials,
    codec: StageSpec,
    effort: int,
    threads: int,
    *,
    packed: bool,
    lower: ArrayChain | None = None,
) -> Chosen | None:
    """As ``chosen``, by samples of one effort. ``lower``: what was chosen for a lower one."""
    if length < _ALONE and EFFORTS[effort].least_gain:
        threads = 1

    def samples(times: int) -> list[Buffer]:
        return [read(*place) for place in sample_places(layouts[0], length, effort, times)]

    first = samples(1)
    if not first:
        return None
    all_here = EFFORTS[effort].least_gain and len(first[0]) < length <= len(head)
    if all_here and _hardly_any(head, memoryview(first[0])[:_SOME], codec):
        return Chosen(plain := ArrayChain((), codec, _NONE), plain)
    how = length, codec, effort, head, 1, trials, lower
    tried = [LayoutChoice(layout, first, *how) for layout in layouts]
    jobs: list[Callable[[], Any]] = [job for each in tried for job in (each.looked, each.own)]
    jobs.append(lambda: recurs(head))
    begun = together(threads, *jobs)
    begun_of = [(begun[2 * number], begun[2 * number + 1]) for number in range(len(tried))]
    if tried[0].takes_more and any(_nearly_runs(*each, effort) for each in begun_of):
        times = RUNS_TIMES if EFFORTS[effort].least_gain else RUNS_TIMES // 2
        more = first if tried[0].whole else samples(times)
        tried = [each.of_runs(more) for each in tried]
    found, choice = min(
        ((each.best(*by, threads), each) for each, by in zip(tried, begun_of, strict=True)),
        key=lambda each: each[0].best.share,
    )
    if packed and choice.whole:
        found = found._replace(best=choice.packed(found.best))
    if begun[-1]:
        whole = tried[0].of_recurring(head, found.best.share)
        return found if whole is None else Chosen(whole, found.plain, recurs=True)
    return found


def _hardly_any(head: Buffer, sample: Buffer, codec: StageSpec) -> bool:
    """Whether a quick level leaves next to nothing of all of ``head``, as of a sample of it: then
    no filter is worth being looked for."""
    quick = ArrayChain((), at_most(codec, QUICK), 1)
    return all(of_all(each, quick).share < most for each, most in ((sample, _FEW), (head, _NONE)))


def _nearly_runs(seen: Seen, own: list[ArrayChain], effort: int) -> bool:
    """Whether numbers are, by what few of them tell."""
    least, by_pcodec = min(seen.least, least_of(own)), least_of(own)
    if not EFFORTS[effort].least_gain and least < _HARDLY_ANY:
        return False
    if by_pcodec < _HARDLY_ANY and seen.plain > _UNLIKE:
        return False
    return seen.still < max(_NOTHING, min(_RUNS, _LITTLE_BETTER * least))
