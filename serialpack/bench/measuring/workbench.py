"""What measures, in the process of ``lab``: jobs, and the workbench that they are done on.

A ``Workbench`` holds the material, and what was made of it so far, for other jobs; ``Workbenches``
are those of several files. A job is a named tuple, which can be sent to a process; ``run`` does it
there.
"""

from __future__ import annotations

import gc
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

from serialpack.auto.choice import Choice, choose, settle
from serialpack.auto.cuts import cuts_otherwise
from serialpack.bench.material import (
    LOOK,
    WHOLE,
    Crowd,
    Material,
    ObjectMaterial,
    Standing,
    Subject,
    count_records,
)
from serialpack.bench.measuring.by_auto import choice_for, chosen_packing, looked_for
from serialpack.bench.measuring.estimate import Measured, weighed
from serialpack.bench.measuring.trials import (
    CAREFUL,
    LOOKING,
    SAMPLING,
    Care,
    CompressedPart,
    Figures,
    SerializedPart,
    collector_off,
    compress,
    figures,
    packing_of,
    repeat,
    serialize,
)
from serialpack.bench.several.worth import Parts
from serialpack.container.short import MOST_WRITTEN
from serialpack.errors import RefusedError, SerialpackError
from serialpack.formats import FORMATS
from serialpack.pipeline.timing import Timer as Laps
from serialpack.pipeline.workers import LARGE
from serialpack.pipeline.writing import keeps
from serialpack.serializers import SERIALIZERS
from serialpack.stages.chain import Chain, parse_chain
from serialpack.stages.stage import Buffer
from serialpack.text import printable

#: The filters that are tried on the source's bytes. One is tried further if they take less than
#: this share then of what they take without it.
FILTERS = tuple(
    f"{name}:{size}" for name in ("shuffle", "bitshuffle", "delta", "xor") for size in (2, 4, 8)
)
WORTH = 0.95


class Held(NamedTuple):
    """What the process holds: of ``size`` bytes of the source ``held`` are in memory.

    ``broken_off``: these end somewhere within the source. ``auto``: the chain that auto chooses for
    it; empty for an object. ``autos``: of several files the chains that auto chooses, each with the
    number of files that it is for, the chain for the most bytes first.
    """

    size: int
    held: int
    broken_off: bool = False
    auto: str = ""
    autos: dict[str, int] = {}  # noqa: RUF012  (never changed)


class Load(NamedTuple):
    """Job: read the source, and tell what is held."""

    def run(self, bench: Workbench | Workbenches) -> Held:
        return bench.held()


class Trial(NamedTuple):
    """Job: measure a chain on a part of the source;
    where it is less than all that is held, in so many ``pieces``.

    ``effort``: as ``pack -EFFORT`` packs, which chooses the chain; None: as the chain is named."""

    chain: str
    threads: int
    part: int
    block_size: int
    pieces: int = 2
    effort: int | None = None
    #: How carefully it is measured, where that is not left to ``part``.
    how: Care | None = None

    @property
    def care(self) -> Care:
        """How carefully it is measured."""
        return self.how or {WHOLE: CAREFUL, LOOK: LOOKING}.get(self.part, SAMPLING)

    def run(self, bench: Workbench | Workbenches) -> Figures:
        return bench.figures(self)


class AutoChain(NamedTuple):
    """What auto chooses at an effort; of several files for most of their bytes, and ``autos``: what
    for each (``Held``). ``apart``: some file is packed otherwise than by the chain, named with the
    size of blocks."""

    chain: str
    block_size: int
    apart: bool
    autos: dict[str, int] = {}  # noqa: RUF012  (never changed)


class Choose(NamedTuple):
    """Job: choose a chain for the source as ``pack -EFFORT`` does."""

    effort: int

    def run(self, bench: Workbench | Workbenches) -> AutoChain:
        return bench.chosen(self.effort)


class At(NamedTuple):
    """Job: do another job with another N; see ``Subject.at`` for what that is."""

    n: int
    job: Any

    def run(self, bench: Workbench | Workbenches) -> Any:
        return self.job.run(bench.at(self.n))


class Count(NamedTuple):
    """Job: count the records of a file, but not beyond ``most``."""

    most: int

    def run(self, bench: Workbench) -> int:
        return count_records(bench.subject, self.most)


class Suits(NamedTuple):
    """Job: find the filters that make a part of the source's bytes smaller behind a quick codec: at
    most two, the best first."""

    part: int

    def run(self, bench: Workbench | Workbenches) -> list[str]:
        def size(filters: str) -> int:
            trial = Trial(f"raw{filters}+zstd:1", 1, self.part, 4 << 20)
            return trial.run(bench).size

        plain = size("")
        sizes = {name: size(f"+{name}") for name in FILTERS}
        good = [name for name in sizes if sizes[name] < plain * WORTH]
        return sorted(good, key=sizes.__getitem__)[:2]


class Copy(NamedTuple):
    """Job: copy the bytes that are held once, in memory: no chain can be faster."""

    def run(self, bench: Workbench | Workbenches) -> float:
        return bench.copy()


class Workbench:
    """The source in memory, and what was made of it so far, which other trials can use."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.objects = is_object(subject)
        self._serialized: dict[tuple[object, ...], SerializedPart] = {}
        self._compressed: dict[tuple[object, ...], CompressedPart] = {}
        self._choices: dict[int, tuple[Choice, float]] = {}
        self._other: tuple[int, Workbench] | None = None

    @cached_property
    def material(self) -> Material | ObjectMaterial:
        """The source, read when it is first asked for."""
        made = ObjectMaterial(self.subject) if self.objects else Material(self.subject)
        # Else the collection of garbage before each measurement would look at all of its objects.
        gc.collect()
        gc.freeze()
        return made

    def at(self, n: int) -> Workbench:
        """The workbench for another N. Only the last one that was asked for is kept."""
        if self._other is None or self._other[0] != n:
            self._other = None
            self._other = n, Workbench(self.subject.at(n))
        return self._other[1]

    def held(self) -> Held:
        """What is held of the source, which is read for it."""
        material = self.material
        if isinstance(material, ObjectMaterial):
            return Held(material.size, material.size)
        auto = settle(choose(), material.format, lambda size: material.data[:size])
        return Held(material.size, len(material.data), material.broken_off, str(auto.chain))

    def choice(self, effort: int) -> tuple[Choice, float]:
        """What ``pack`` chooses for the file at an effort, and the seconds that takes it."""
        if effort not in self._choices:
            assert isinstance(self.material, Material)
            self._choices[effort] = choice_for(self.subject, self.material, effort)
        return self._choices[effort]

    def chosen(self, effort: int) -> AutoChain:
        """The chain that ``pack`` chooses for the file at an effort."""
        choice = self.choice(effort)[0]
        return AutoChain(str(choice.chain), choice.block_size, cuts_otherwise(choice.split))

    @property
    def stands(self) -> Standing:
        """What the file stands for, where it is one of several."""
        assert self.subject.stands is not None
        return self.subject.stands

    @cached_property
    def parts(self) -> Parts:
        """What a part of the file counts for, where it is one of several. Not all that is held may
        be measured: only whole values are."""
        assert isinstance(self.material, Material)
        return Parts(self.subject.path, self.material)

    def copy(self) -> float:
        """The seconds of one copy of what is held."""
        material = self.material
        assert isinstance(material, Material)
        data = material.data

        def copy(_: bool) -> tuple[Buffer, dict[str, float]]:
            laps = Laps()
            copied = bytearray(data)
            laps.lap("copy")
            return copied, laps.seconds

        return repeat(copy, len)[1].wall

    def figures(self, trial: Trial) -> Figures:
        """The figures of a trial."""
        chain = parse_chain(trial.chain)
        part = self.serialized(trial, chain)
        found = figures(part, self.compressed(trial, chain, part), chain)
        if trial.effort is not None:
            # The same for all of the source: of a part it is scaled up.
            share = found.source / max(self.material.size, 1)
            found = looked_for(found, self.choice(trial.effort)[1] * share)
        return found._replace(source=self.material.size) if self.objects else found

    def serialized(self, trial: Trial, chain: Chain) -> SerializedPart:
        """The part of the material behind the serializer of the chain, which is measured once.

        Of the results for all of the source only those of the last two serializers are kept.
        """
        key = (chain.serializer, *trial[1:6])
        if key not in self._serialized:
            whole = [k for k in self._serialized if k[2] == WHOLE]
            if trial.part == WHOLE and len(whole) > 1:
                del self._serialized[whole[0]]
            self._serialized[key] = self._serialize(trial, chain)
        return self._serialized[key]

    def _serialize(self, trial: Trial, chain: Chain) -> SerializedPart:
        """Measure the serializer of the chain."""
        subject = self.subject
        if isinstance(self.material, ObjectMaterial):
            from serialpack.bench.measuring.object_part import serialize_object

            packing = packing_of(chain, "object", trial.block_size, None, None)
            return serialize_object(packing, self.material.value, trial.care)
        packing = packing_of(chain, subject.format, trial.block_size, subject.name, subject.mtime)
        if trial.effort is not None:
            packing = chosen_packing(packing, self.choice(trial.effort)[0])
        fmt, serializer = FORMATS.get(subject.format), SERIALIZERS.cls(chain.serializer.name)
        for_values = fmt.has_values and not serializer.exact
        blocks = self.material.blocks(
            trial.part,
            trial.block_size,
            trial.pieces,
            for_values=for_values,
            split=packing.split,
        )
        return serialize(packing, blocks, trial.threads, trial.care)

    def compressed(self, trial: Trial, chain: Chain, part: SerializedPart) -> CompressedPart:
        """The part behind filters and codec, which is measured once for all serializers that wrote
        the same bytes."""
        # A codec may be set otherwise where it is given the source's own text (``of_records``).
        kept = keeps(SERIALIZERS.cls(chain.serializer.name), FORMATS.get(part.plan.format))
        key = (part.digest, kept, chain.filters, chain.codec, *trial[1:6])
        if key not in self._compressed:
            done = compress(part, chain, trial.threads, trial.care)
            # Of long payloads only the lengths are needed from now on: zeros in their place take no
            # memory as long as nobody touches them. What fits into a short member is needed itself.
            packed = [
                p._replace(
                    payload=tuple(
                        each if len(each) <= MOST_WRITTEN else bytes(len(each))
                        for each in p.payload
                    ),
                    data=None,
                )
                for p in done.packed
            ]
            self._compressed[key] = done._replace(packed=packed)
        return self._compressed[key]


class Workbenches:
    """Several files, each on a workbench of its own;
    from their figures those of all are estimated."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self._benches = [Workbench(file) for file in subject.files]
        self._other: tuple[int, Workbenches] | None = None

    def at(self, n: int) -> Workbenches:
        """Those for a larger sample of the files.
        Only the last ones that were asked for are kept."""
        if self._other is None or self._other[0] != n:
            self._other = None
            self._other = n, Workbenches(self.subject.at(n))
        return self._other[1]

    def held(self) -> Held:
        """What is held of the files, which are read for it.
        ``size``: of all that they stand for."""
        found = [bench.held() for bench in self._benches]
        autos = self._counted([each.auto for each in found])
        return Held(
            round(sum(bench.stands.bytes for bench in self._benches)),
            sum(each.held for each in found),
            any(each.broken_off for each in found),
            next(iter(autos)),
            autos,
        )

    def _counted(self, chains: Sequence[str]) -> dict[str, int]:
        """How many files each of ``chains`` is for, which has one for each file; that for the most
        bytes first."""
        size: dict[str, float] = {}
        for chain, bench in zip(chains, self._benches, strict=True):
            size[chain] = size.get(chain, 0.0) + bench.stands.bytes
        return {chain: chains.count(chain) for chain in sorted(size, key=lambda c: -size[c])}

    def chosen(self, effort: int) -> AutoChain:
        """The chains that ``pack`` chooses for the files at an effort."""
        found = [bench.chosen(effort) for bench in self._benches]
        autos = self._counted([each.chain for each in found])
        first = next(each for each in found if each.chain == next(iter(autos)))
        return first._replace(autos=autos, apart=any(each != first or each.apart for each in found))

    def copy(self) -> float:
        """The seconds of one copy of what is held."""
        return sum(bench.copy() for bench in self._benches)

    def figures(self, trial: Trial) -> Figures:
        """The figures of a trial, always on all that is held, for a part of a small file would tell
        nothing; as ``pack -EFFORT`` packs each file by what that chooses for it. RefusedError names
        the file."""
        count = len(self._benches)
        care = trial.how or CAREFUL
        care = care._replace(seconds=care.seconds / count, few=care.few / count)
        crowd = self.subject.crowd or Crowd(0.0, 0.0, many=False)
        found = []
        with collector_off():
            for bench in self._benches:
                if trial.effort is not None:
                    one = bench.chosen(trial.effort)
                    trial = trial._replace(chain=one.chain, block_size=one.block_size)
                # ``pack`` gives each small file to one thread or process.
                small = bench.material.size <= LARGE
                threads = 1 if small else trial.threads
                how = trial._replace(part=WHOLE, how=care, threads=threads)
                try:
                    figures = bench.figures(how)
                except SerialpackError as error:
                    raise RefusedError(f"{printable(bench.subject.path)}: {error.said}") from error
                workers = trial.threads if small and crowd.many else 1
                worth = bench.parts(figures.source, parse_chain(trial.chain))
                size = bench.material.size
                found.append(Measured(figures, size, worth, bench.stands, workers))
        return weighed(found, crowd)


def is_object(subject: Subject) -> bool:
    """Whether a Python object is measured, and not a file."""
    from serialpack.bench.samples import parse_sample

    return bool(subject.sample) and parse_sample(subject.sample)[0].mode == "object"
