"""What bench found: rows, anchors and recommendations; and how that is spelled in JSON.

The names of the fields are the keys of ``--format json`` and of saved results:
docs/schemas/bench.json. All sizes are bytes, all times seconds, all speeds bytes of source a
second. None stands for what was not measured.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, cast

#: The version of the form in which results are saved. It is in the file.
VERSION = 1

#: What became of a row. measured: with all of the source. sampled: with a part of it; size and
#: times are scaled up to the whole. refused: a stage cannot hold the data. failed: it crashed, ran
#: out of memory or did not end. skipped: the budget was used up before its turn.
Status = Literal["measured", "sampled", "refused", "failed", "skipped"]


class Row(NamedTuple):
    """One combination of chain, threads, size of blocks and N, and what was measured of it."""

    #: The chain as a container spells it (``msgpack+shuffle:4+zstd:3``).
    chain: str
    serializer: str
    filters: list[str]
    codec: str
    threads: int
    #: Of a sweep: how many records (or bytes of a message) it was measured with.
    n: int | None
    status: Status
    #: Why it is refused, failed or skipped: one line.
    why: str
    #: Bytes of the container; those of them that are no payload; the source's bytes over ``size``.
    size: int | None
    overhead: int | None
    ratio: float | None
    #: Seconds of the fastest run, for the whole source, and bytes of source a second. Packing
    #: includes the proof, as ``serialpack pack`` does.
    pack_seconds: float | None
    unpack_seconds: float | None
    pack_speed: float | None
    unpack_speed: float | None
    #: The seconds by step, in the fastest run: serialize, prove, compress, undo, decompress,
    #: deserialize. ``serialize`` and ``deserialize`` are what benchmarks call write and read.
    seconds: dict[str, float]
    #: How often it was run, and by what share the median run took longer than the fastest (0.05: 5
    #: %).
    runs: int
    spread: float | None
    #: Peak bytes above those of the idle process that holds the source.
    memory: int | None
    #: exact: the very bytes came back; faithful: the same values.
    kept: Literal["exact", "faithful"] | None
    #: What people choose by: portable, text, safe (serialpack inspect --stages).
    traits: list[str]
    #: Whether it is on the Pareto front of size against the time to pack and unpack; and whether it
    #: is what ``auto`` would choose.
    front: bool = False
    auto: bool = False
    #: The size over the least that the data can take, where that is known of a built-in sample.
    over_limit: float | None = None
    #: The most bytes of source in a block.
    block_size: int = 4 << 20
    #: The mean of all runs, where ``pack_seconds`` and ``unpack_seconds`` are of the fastest one.
    pack_mean: float | None = None
    unpack_mean: float | None = None
    #: As ``seconds``, the mean of all runs; None where steps were not timed.
    means: dict[str, float] | None = None
    #: Where only some of several files were measured: by what share the size may be off, because
    #: other files could have been drawn (two standard errors; 0.02: 2 %).
    error: float | None = None
    #: It was measured as ``pack -EFFORT`` packs, and the chain is what ``auto`` chooses then; None
    #: where its stages were named.
    effort: int | None = None

    @property
    def mark(self) -> str:
        """What reports put behind the chain where it is a choice of ``auto``; else empty."""
        if self.effort is not None:
            return at_effort(self.effort)
        return "auto" if self.auto else ""

    @property
    def named(self) -> str:
        """The chain, with its mark."""
        return f"{self.chain} ({self.mark})" if self.mark else self.chain


def at_effort(effort: int) -> str:
    """What reports call the choice of ``auto`` at an effort that is not the usual one."""
    return f"auto -{effort}"


class Anchor(NamedTuple):
    """Something to compare rows with: a copy of memory (memcpy), or a stock tool such as gzip.
    Fields are as in ``Row``."""

    name: str
    #: The version that a tool says it has.
    version: str
    size: int | None
    ratio: float | None
    pack_seconds: float | None
    unpack_seconds: float | None
    pack_speed: float | None
    unpack_speed: float | None
    #: Why it has no figures, where it has none.
    why: str = ""


class Recommendation(NamedTuple):
    """A row to take. ``kind``: for what purpose;
    ``command``: what to type for it; ``why``: in words."""

    kind: Literal["smallest", "fastest", "balanced", "portable"]
    chain: str
    threads: int
    #: Whether the row was measured with the whole source.
    whole: bool
    size: int
    command: str
    why: str


class Entropy(NamedTuple):
    """The least bytes that a built-in sample can take (``size``): the entropy of what was drawn for
    it. ``why``: what that is of, in words."""

    size: float
    why: str


class Machine(NamedTuple):
    """Where it was measured."""

    cpu: str
    cores: int
    memory: int
    system: str
    python: str
    serialpack: str


class SampledFiles(NamedTuple):
    """What bench was asked about, where it is several files: how many (``total``) of how many
    bytes, how many of them are empty, and the paths of those that were measured."""

    total: int
    size: int
    empty: int
    measured: list[str]


def shown_source(source: str) -> str:
    """The name of the source as people read it: that of a pipe is "-"."""
    return "standard input" if source == "-" else source


class Results(NamedTuple):
    """All that one run of bench found."""

    #: What was measured: a file's path, a sample (``contacts:60000``), or ``-``: a pipe.
    source: str
    #: file: a file is packed and unpacked. object: a Python object is dumped and loaded.
    mode: Literal["file", "object"]
    format: str
    size: int
    records: int | None
    #: Bytes of the source that were in memory; sampled rows were measured with these, or a part of
    #: them.
    sampled: int
    budget: float
    elapsed: float
    #: ISO 8601, UTC.
    date: str
    machine: Machine
    limit: Entropy | None
    rows: list[Row]
    anchors: list[Anchor]
    recommendations: list[Recommendation]
    #: What a reader must know, a line each.
    notes: list[str]
    #: Whether it was stopped before its end.
    interrupted: bool = False
    #: What rows that are measured whole went through: memory, or files (see ``Through``).
    through: str = "memory"
    #: Of several files which were measured; ``size`` is then that of all files, ``sampled`` what
    #: was in memory of the measured ones.
    files: SampledFiles | None = None

    def to_json(self) -> dict[str, Any]:
        """Everything, as values of JSON."""
        return {"version": VERSION, **_plain(self)}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: _plain(field) for name, field in value._asdict().items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def from_json(data: Any) -> Results:
    """The results that ``to_json`` gave. ValueError for anything else."""
    if not isinstance(data, dict):
        raise ValueError("no results of serialpack bench")
    try:
        if data["version"] != VERSION:
            raise ValueError(f"results of version {data['version']}, this reads {VERSION}")
        fields = {name: data[name] for name in Results._fields if name != "files"}
        limit, files = fields["limit"], data.get("files")
        return Results(
            **{
                **fields,
                "machine": Machine(**fields["machine"]),
                "limit": None if limit is None else Entropy(**limit),
                "files": None if files is None else SampledFiles(**files),
                "rows": [Row(**row) for row in fields["rows"]],
                "anchors": [Anchor(**anchor) for anchor in fields["anchors"]],
                "recommendations": [Recommendation(**r) for r in fields["recommendations"]],
            }
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"no results of serialpack bench ({error})") from None


def cost(row: Row) -> float:
    """Seconds to pack and unpack a row that has figures: its time, on the Pareto front."""
    return cast(float, row.pack_seconds) + cast(float, row.unpack_seconds)
