"""Makes rows: of what a trial found, or of why it found nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from serialpack.bench.results import Row, Status
from serialpack.bench.schedules.combination import Combination
from serialpack.codecs import CODECS
from serialpack.errors import MissingLibraryError, RefusedError, SerialpackError
from serialpack.filters import FILTERS
from serialpack.serializers import SERIALIZERS
from serialpack.stages.chain import spell_stage

if TYPE_CHECKING:
    from serialpack.bench.measuring.trials import Figures
    from serialpack.bench.measuring.workbench import Held


def _row(combination: Combination, status: Status) -> Row:
    """A row without any figures."""
    chain, threads, block_size, n, effort = combination
    serializer = SERIALIZERS.cls(chain.serializer.name)
    return Row(
        chain=str(chain),
        serializer=spell_stage(SERIALIZERS, chain.serializer),
        filters=[spell_stage(FILTERS, spec) for spec in chain.filters],
        codec=spell_stage(CODECS, chain.codec),
        threads=threads,
        n=n,
        status=status,
        why="",
        size=None,
        overhead=None,
        ratio=None,
        pack_seconds=None,
        unpack_seconds=None,
        pack_speed=None,
        unpack_speed=None,
        seconds={},
        runs=0,
        spread=None,
        memory=None,
        kept=None,
        traits=[
            trait for trait in serializer.traits if trait != "exact" and getattr(serializer, trait)
        ],
        block_size=block_size,
        effort=effort,
    )


def measured_row(combination: Combination, found: Figures, held: Held) -> Row:
    """The row of a trial. Figures of a part of the source are scaled
    up to all that ``held`` says it has."""
    whole = found.source == held.size
    scale = 1.0 if whole or not found.source else held.size / found.source
    size = found.size if whole else round(found.size * scale)
    pack, unpack = found.pack * scale, found.unpack * scale
    return _row(combination, "measured" if whole else "sampled")._replace(
        size=size,
        overhead=found.overhead if whole else round(found.overhead * scale),
        ratio=held.size / size,
        pack_seconds=pack,
        unpack_seconds=unpack,
        pack_mean=found.pack_mean * scale,
        unpack_mean=found.unpack_mean * scale,
        pack_speed=held.size / pack if pack else None,
        unpack_speed=held.size / unpack if unpack else None,
        seconds={step: took * scale for step, took in found.steps.items()},
        means=None
        if found.means is None
        else {step: took * scale for step, took in found.means.items()},
        runs=found.runs,
        spread=found.spread,
        memory=found.memory,
        kept=found.kept,
        error=None if whole else found.error,
    )


def failed_row(combination: Combination, error: Exception) -> Row:
    """The row of a combination that a stage refused, or that failed:
    ``error`` says which, and why."""
    refused = isinstance(error, RefusedError | MissingLibraryError) or (
        isinstance(error, SerialpackError) and error.exit_code in (2, 3, 4)
    )
    why = " ".join((error.said if isinstance(error, SerialpackError) else str(error)).split())
    return _row(combination, "refused" if refused else "failed")._replace(why=why)


def skipped_row(combination: Combination, why: str) -> Row:
    """The row of a combination that was not measured."""
    return _row(combination, "skipped")._replace(why=why)
