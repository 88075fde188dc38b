"""A chain of stages: its one notation, parsed and printed, and its numbers in the container."""

from functools import lru_cache
from typing import Any, NamedTuple

from serialpack.errors import UnsupportedError, UsageError, newer
from serialpack.stages.effort import DEFAULT_EFFORT
from serialpack.stages.registry import CODECS, FILTERS, SERIALIZERS
from serialpack.stages.stage import ChainNumbers, Registry, Stage, StageNumbers


class StageSpec(NamedTuple):
    """A stage by name, with all its parameters."""

    name: str
    values: tuple[int, ...] = ()


class Chain(NamedTuple):
    """Serializer, filters and codec, in packing order: ``msgpack+bitshuffle:4+zstd:3``."""

    serializer: StageSpec
    filters: tuple[StageSpec, ...]
    codec: StageSpec

    def __str__(self) -> str:
        return _spelled(self)

    @property
    def zstd_envelope(self) -> bool:
        """Whether stock zstd tools may read the container: zstd last, and nothing but it."""
        return self.codec.name == "zstd" and not self.filters

    @property
    def plain(self) -> bool:
        """Whether the serialized bytes are stored as they are."""
        return self.codec.name == "none" and not self.filters

    @property
    def numbers(self) -> ChainNumbers:
        """The chain as the container stores it."""
        return _numbers_of(self)

    def stages(self) -> list[tuple[Registry[Any], StageSpec]]:
        """The stages in packing order, each with the registry that it is in."""
        filters: list[tuple[Registry[Any], StageSpec]] = [(FILTERS, f) for f in self.filters]
        return [(SERIALIZERS, self.serializer), *filters, (CODECS, self.codec)]


class Extent(NamedTuple):
    """An extent of a block, of ``size`` bytes, that is packed as a part by itself.

    ``chain``: that of the part, with the serializer of the header's chain; None: the header's.
    """

    size: int
    chain: Chain | None = None


def parse_chain(text: str) -> Chain:
    """The chain that ``text`` spells; UsageError where a stage or a parameter is unknown."""
    parts = text.split("+")
    if len(parts) < 2:
        raise UsageError(
            f"{text!r} is not a chain", hint="write SERIALIZER[+FILTER...]+CODEC, as in raw+zstd:3"
        )
    return Chain(
        parse_stage(SERIALIZERS, parts[0]),
        tuple(parse_stage(FILTERS, p) for p in parts[1:-1]),
        parse_stage(CODECS, parts[-1]),
    )


def parse_stage(registry: Registry[Any], text: str, effort: int = DEFAULT_EFFORT) -> StageSpec:
    """One stage of a chain: ``zstd:3``. What is not spelled is set by the effort."""
    name, params = _parted(text)
    return StageSpec(name, registry.cls(name).parse_params(name, params, effort))


def is_codec(text: str) -> bool:
    """Whether ``text`` names a codec, or leaves it to ``auto``."""
    return text == "auto" or _parted(text)[0] in CODECS


def _parted(text: str) -> tuple[str, str]:
    """The name of a stage, and its parameters."""
    end = next((i for i, c in enumerate(text) if c in ":@/="), len(text))
    return text[:end], text[end:]


def spell_stage(registry: Registry[Any], spec: StageSpec) -> str:
    """``spec`` as a chain spells it."""
    cls: type[Stage] = registry.cls(spec.name)
    return spec.name + cls.spell_params(spec.values)


def size_of_names(*stages: StageSpec) -> int:
    """About how many bytes a container takes to name ``stages``, which of few numbers decides: a
    byte each, and what they are set to."""
    values = [value for spec in stages for value in (1, 1, *spec.values)]
    return sum(value.bit_length() // 8 + 1 for value in values)


# Kept, for messages and the files of a folder mostly have the same few chains.
@lru_cache(64)
def _spelled(chain: Chain) -> str:
    return "+".join(spell_stage(*stage) for stage in chain.stages())


@lru_cache(64)
def _numbers_of(chain: Chain) -> ChainNumbers:
    return tuple(_numbers(*stage) for stage in chain.stages())


@lru_cache(64)
def chain_of_numbers(numbers: ChainNumbers, writer: str) -> Chain:
    """The chain a container stores; UnsupportedError for a stage that this version lacks."""
    if len(numbers) < 2:
        raise UnsupportedError("a chain has no codec")
    return Chain(
        _spec(SERIALIZERS, numbers[0], writer),
        tuple(_spec(FILTERS, n, writer) for n in numbers[1:-1]),
        _spec(CODECS, numbers[-1], writer),
    )


def _numbers(registry: Registry[Any], spec: StageSpec) -> StageNumbers:
    values = spec.values
    # Optional parameters at the end that are not set are not stored.
    params = registry.cls(spec.name).params
    while values and params[len(values) - 1].mark != ":" and not values[-1]:
        values = values[:-1]
    return (registry.entry(spec.name).number, *values)


def _spec(registry: Registry[Any], numbers: StageNumbers, writer: str) -> StageSpec:
    entry = registry.by_number(numbers[0])
    if entry is None:
        raise newer(f"{registry.kind} number {numbers[0]}", writer)
    cls = registry.cls(entry.name)
    if not cls.check_params(numbers[1:]):
        raise newer(f"{registry.kind} {entry.name} with the parameters {list(numbers[1:])}", writer)
    defaults = tuple(p.default for p in cls.params)
    return StageSpec(entry.name, numbers[1:] + defaults[len(numbers) - 1 :])
