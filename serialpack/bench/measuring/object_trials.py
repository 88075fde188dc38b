"""Measures one chain on one Python object,
as ``dumps`` and ``loads`` use it: the rows of a sweep."""

from __future__ import annotations

from typing import NamedTuple

from serialpack.bench.material import ObjectMaterial
from serialpack.bench.measuring.object_part import serialize_object
from serialpack.bench.measuring.trials import (
    Care,
    CompressedPart,
    Figures,
    SerializedPart,
    added_steps,
    compress,
    packing_of,
    repeat,
    spread_of,
)
from serialpack.bench.measuring.workbench import Workbench
from serialpack.container.block import StoredBlock
from serialpack.objects import dumping, loading
from serialpack.pipeline.blocks import BlockPacker, BlockUnpacker, PackedBlock
from serialpack.pipeline.timing import Timer
from serialpack.stages.chain import Chain, parse_chain

#: Of a smaller object no peak of memory is told: most of that would be pages that the allocator
#: keeps anyway, and that the kernel counts in batches.
LEAST_MEMORY = 1 << 20


class Calls(NamedTuple):
    """Job: measure the serializer of a chain on an object, its filters and codec, and the calls
    ``dumps`` and ``loads`` around these.

    The steps in the figures are those of the serializer, filters and codec; the times to pack and
    to unpack are those of the calls, with all that they do beside: proof, checksums, container.
    """

    chain: str
    threads: int
    block_size: int
    care: Care

    def run(self, bench: Workbench) -> Figures:
        """The figures. RefusedError where the object cannot be held."""
        material = bench.material
        assert isinstance(material, ObjectMaterial)
        value, threads = material.value, self.threads
        chain, care = parse_chain(self.chain), self.care
        if material.size < LEAST_MEMORY:
            care = care._replace(memory=False)
        packing = packing_of(chain, "object", self.block_size, None, None)
        # Without the proof: ``dumps``, which is measured below, has it.
        part = serialize_object(packing, value, care, proved=False)
        timings, payload = [part.there, part.back], sum(len(s.data) for s in part.serialized)
        if not chain.plain:
            squeezed = _squeezed(part, chain, threads, care)
            timings += [squeezed.there, squeezed.back]
            payload = sum(packed.block.payload for packed in squeezed.packed)
        steps, means = added_steps(timings)

        def dumps(_: bool) -> tuple[bytes, dict[str, float]]:
            return dumping.dumps(value, self.chain, threads=threads), {}

        data, there = repeat(dumps, len, care)

        def loads(_: bool) -> tuple[None, dict[str, float]]:
            # It may be trusted: we have just dumped it.
            loading.loads(data, trust=True, threads=threads)
            return None, {}

        _, back = repeat(loads, lambda _: 0, care)
        memory = [most for most in (there.memory, back.memory) if most is not None]
        return Figures(
            source=material.size,
            records=None,
            size=len(data),
            overhead=max(len(data) - payload, 0),
            pack=there.wall,
            unpack=back.wall,
            pack_mean=there.mean,
            unpack_mean=back.mean,
            steps=steps,
            runs=min(t.runs for t in (*timings, there, back)),
            spread=spread_of((there, back)),
            memory=max(memory, default=None),
            kept="exact",
            means=means,
        )


def _squeezed(part: SerializedPart, chain: Chain, threads: int, care: Care) -> CompressedPart:
    """The part through filters and codec.

    Where it is one block, the stages are made before and not timed: to make them takes longer than
    a small object does, and a program that calls ``dumps`` again and again does not make them each
    time.
    """
    if len(part.blocks) > 1:
        return compress(part, chain, threads, care)
    plan = part.plan._replace(chain=chain)
    packer, unpacker = BlockPacker(plan), BlockUnpacker(plan)

    def finish(_: bool) -> tuple[PackedBlock, dict[str, float]]:
        timer = Timer()
        return packer.finish(part.blocks[0], part.serialized[0], timer), timer.seconds

    packed, there = repeat(finish, lambda packed: packed.block.payload, care)
    stored = StoredBlock(packed.block, 0, 0, tuple(map(bytes, packed.payload)))

    def decompress(_: bool) -> tuple[None, dict[str, float]]:
        timer = Timer()
        unpacker.decompress(stored, timer)
        return None, timer.seconds

    return CompressedPart([packed], there, repeat(decompress, lambda _: 0, care)[1])
