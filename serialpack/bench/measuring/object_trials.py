"""Measuring one serializer on one Python object, as ``dumps`` and ``loads`` use it."""

from __future__ import annotations

from typing import NamedTuple

from serialpack.bench.material import ObjectMaterial
from serialpack.bench.measuring.lab import Workbench
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
from serialpack.container.block import StoredBlock
from serialpack.objects import dumping, loading
from serialpack.pipeline.blocks import BlockPacker, BlockUnpacker, PackedBlock
from serialpack.pipeline.timing import Timer
from serialpack.stages.chain import Chain, parse_chain

#: Of a smaller object no peak of memory is told: the pages that the allocator takes and keeps
#: anyway, and that the kernel counts in batches, would be most of it.
LEAST_MEMORY = 1 << 20


class Calls(NamedTuple):
    """Measure a serializer alone on an object, and all of ``dumps`` and ``loads`` around it.

    The steps are those of the serializer and of the codec; packing and unpacking are the calls,
    with what they do unasked: the proof, checksums and the container.
    """

    chain: str
    threads: int
    block_size: int
    care: Care

    def run(self, bench: Workbench) -> Figures:
        """What the object took. RefusedError where it cannot be held."""
        material = bench.material
        assert isinstance(material, ObjectMaterial)
        value, threads = material.value, self.threads
        chain, care = parse_chain(self.chain), self.care
        if material.size < LEAST_MEMORY:
            care = care._replace(memory=False)
        packing = packing_of(chain, "object", self.block_size, None, None)
        # dumps proves it.
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
            # What we have just dumped is ours.
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
    """The part through filters and codec. One block meets stages that are made already.

    Calls one after another find them so, and to make them takes longer than a small object does.
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
