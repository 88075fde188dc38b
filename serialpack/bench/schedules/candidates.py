"""Which chains are worth measuring on some data."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from serialpack.bench.samples import SampleTable
from serialpack.codecs import CODECS
from serialpack.filters import FILTERS
from serialpack.formats import FORMATS
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.base import ByteSerializer, Serializer
from serialpack.stages.chain import StageSpec, parse_stage, spell_stage
from serialpack.stages.stage import Registry
from serialpack.values.kinds import KINDS

#: The codecs tried first behind every serializer: they show how well its bytes compress.
FIRST_CODECS = ("zstd:3", "none", "lz4")


class Candidates(NamedTuple):
    """The stages to try. ``chosen``: which of the three lists the user named."""

    serializers: list[StageSpec]
    filters: list[tuple[StageSpec, ...]]
    codecs: list[StageSpec]
    chosen: frozenset[str]
    #: Names of serializers and codecs that would be tried if they were installed.
    absent: list[str]


def check_stages(serializers: Sequence[str], filters: Sequence[str], codecs: Sequence[str]) -> None:
    """UsageError where a stage is unknown, MissingLibraryError where one is not installed."""
    for registry, stages in ((SERIALIZERS, serializers), (FILTERS, filters), (CODECS, codecs)):
        for text in stages:
            registry.create(*parse_stage(registry, text))


def candidates(
    serializers: Sequence[str],
    filters: Sequence[str],
    codecs: Sequence[str],
    *,
    formats: Collection[str],
    objects: bool,
) -> Candidates:
    """The user's stages, and where there are none, all that may suit.

    ``formats``: the source's; for several files only serializers suit that hold all of them.
    ``objects``: Python objects are dumped, which raw cannot. UsageError where a stage is unknown,
    MissingLibraryError where one that was named is not installed.
    """
    check_stages(serializers, filters, codecs)
    absent: list[str] = []
    named = {"serializers": serializers, "filters": filters, "codecs": codecs}
    if serializers:
        chosen = [parse_stage(SERIALIZERS, text) for text in serializers]
    else:
        chosen = []
        for entry in SERIALIZERS:
            cls = SERIALIZERS.cls(entry.name)
            if not _suits(cls, entry.name, formats, objects=objects):
                continue
            if cls.missing(entry.name) is None:
                chosen += [parse_stage(SERIALIZERS, entry.name + level) for level in cls.levels]
            else:
                absent.append(entry.name)
    return Candidates(
        serializers=chosen,
        filters=[(), *((parse_stage(FILTERS, text),) for text in filters)][bool(filters) :],
        codecs=[parse_stage(CODECS, text) for text in codecs or _worth_trying(absent)],
        chosen=frozenset(name for name, stages in named.items() if stages),
        absent=absent,
    )


def by_table(choice: Candidates, table: SampleTable) -> Candidates:
    """``choice`` with what the user left open taken from ``table``, as far as it is installed.

    Of serializers only those that suit, which are those of ``choice``.
    """
    absent: list[str] = []
    serializers, filters, codecs, chosen, _ = choice
    if "serializers" not in chosen:
        wanted = _there(SERIALIZERS, table.serializers, absent)
        serializers = [spec for spec in wanted if spec in serializers]
    if "filters" not in chosen:
        filters = [
            tuple(parse_stage(FILTERS, each) for each in text.split("+") if each)
            for text in table.filters
        ]
    if "codecs" not in chosen and table.codecs:
        codecs = _there(CODECS, table.codecs, absent)
    # Filters of a table are tried as if they were named, and no others.
    return Candidates(serializers, filters, codecs, chosen | {"filters"}, absent)


def _there(registry: Registry[Any], texts: Sequence[str], absent: list[str]) -> list[StageSpec]:
    """The stages that are installed; the names of the others are added to ``absent``."""
    found = []
    for text in texts:
        spec = parse_stage(registry, text)
        if registry.cls(spec.name).missing(spec.name) is None:
            found.append(spec)
        elif spec.name not in absent:
            absent.append(spec.name)
    return found


def _suits(cls: type[Serializer], name: str, formats: Collection[str], *, objects: bool) -> bool:
    if issubclass(cls, ByteSerializer):
        # All of them hold any bytes; one that is for some of the files leaves the others as text.
        return not objects and any(cls.suits(FORMATS.declaration(f).columns) for f in formats)
    # cloudpickle writes as pickle does what pickle can hold, and files hold nothing else.
    read = all(map(values_of, formats)) and name != "cloudpickle"
    return (objects or read) and not cls.cannot >= KINDS.keys()


def _worth_trying(absent: list[str]) -> list[str]:
    found = []
    for entry in CODECS:
        cls = CODECS.cls(entry.name)
        if cls.missing(entry.name) is None:
            found += [entry.name + params for params in cls.worth_trying(entry.name)]
        else:
            absent.append(entry.name)
    return found


def values_of(format: str, *, trust: bool = False) -> bool:
    """Whether the values of a source in ``format`` can be read here, and may be."""
    fmt = FORMATS.get(format)
    packs = fmt.has_values and not getattr(fmt, "unpacked", ())
    return packs and (trust or bool(getattr(fmt, "safe", True)))


def first_codecs(choice: Candidates) -> list[StageSpec]:
    """The codecs of ``FIRST_CODECS`` that are among the choice; else its first."""
    spelled = {spell_stage(CODECS, spec): spec for spec in choice.codecs}
    wanted = [str(spell_stage(CODECS, parse_stage(CODECS, text))) for text in FIRST_CODECS]
    return [spelled[text] for text in wanted if text in spelled] or choice.codecs[:1]


def stage_names(specs: list[StageSpec]) -> list[str]:
    """Serializers as people spell them."""
    return [spell_stage(SERIALIZERS, spec) for spec in specs]
