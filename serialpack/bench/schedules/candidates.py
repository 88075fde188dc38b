"""Which stages are worth trying on some data: what the user named, else all that may suit."""

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

#: The codecs that are tried first behind every serializer: they show how well its bytes compress.
FIRST_CODECS = ("zstd:3", "none", "lz4")


class Candidates(NamedTuple):
    """The stages to try: every serializer with every one of ``filters`` (each of which may be
    several filters, or none) and every codec.

    ``chosen``: the names of those of the three lists that the user, or a table, has fixed.
    """

    serializers: list[StageSpec]
    filters: list[tuple[StageSpec, ...]]
    codecs: list[StageSpec]
    chosen: frozenset[str]
    #: The names of serializers and codecs that would be tried if they were installed.
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
    """The stages to try: of each kind those that the user named, or where none was named all that
    may suit.

    ``formats``: those of the source; of several files only serializers suit that hold all of them.
    ``objects``: a Python object is dumped, which serializers of bytes cannot do. UsageError where a
    stage is unknown, MissingLibraryError where one that was named is not installed.
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
    """``choice``, but what the user left open is taken from ``table``, as far as it is installed;
    of its serializers only those that are in ``choice``, and so suit.
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
    """The stages ``texts`` that are installed; the names of the others are added to ``absent``."""
    found = []
    for text in texts:
        spec = parse_stage(registry, text)
        if registry.cls(spec.name).missing(spec.name) is None:
            found.append(spec)
        elif spec.name not in absent:
            absent.append(spec.name)
    return found


def _suits(cls: type[Serializer], name: str, formats: Collection[str], *, objects: bool) -> bool:
    """Whether a serializer may hold the source; arguments as of ``candidates``."""
    if issubclass(cls, ByteSerializer):
        # These hold any bytes, so that one that suits some of several files is tried on all.
        return not objects and any(cls.suits(FORMATS.declaration(f).columns) for f in formats)
    # Of what files hold, cloudpickle writes the same bytes as pickle.
    read = all(map(values_of, formats)) and name != "cloudpickle"
    return (objects or read) and not cls.cannot >= KINDS.keys()


def _worth_trying(absent: list[str]) -> list[str]:
    """All installed codecs, with the parameters that are worth trying; see ``_there``."""
    found = []
    for entry in CODECS:
        cls = CODECS.cls(entry.name)
        if cls.missing(entry.name) is None:
            found += [entry.name + params for params in cls.worth_trying(entry.name)]
        else:
            absent.append(entry.name)
    return found


def values_of(format: str, *, trust: bool = False) -> bool:
    """Whether a source in ``format`` can be read as values; without ``trust`` only where reading
    runs no code that is in it."""
    fmt = FORMATS.get(format)
    packs = fmt.has_values and not getattr(fmt, "unpacked", ())
    return packs and (trust or bool(getattr(fmt, "safe", True)))


def first_codecs(choice: Candidates) -> list[StageSpec]:
    """The codecs of ``FIRST_CODECS`` that are in ``choice``; if none of them is, the first of
    these."""
    spelled = {spell_stage(CODECS, spec): spec for spec in choice.codecs}
    wanted = [str(spell_stage(CODECS, parse_stage(CODECS, text))) for text in FIRST_CODECS]
    return [spelled[text] for text in wanted if text in spelled] or choice.codecs[:1]


def stage_names(specs: list[StageSpec]) -> list[str]:
    """Serializers as people spell them."""
    return [spell_stage(SERIALIZERS, spec) for spec in specs]
