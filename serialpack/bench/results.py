"""What bench found: rows, anchors and recommendations, and their form in JSON.

The names of the fields are the keys of ``--format json`` and of saved results:
docs/schemas/bench.json. All sizes are bytes, all times seconds, all speeds bytes of source a
second. None stands for what was not measured.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, cast

#: The version of the form in which results are saved.
VERSION = 1

#: measured: all of the source. sampled: a part of it; size and times are scaled up to the whole.
#: refused: a stage cannot hold the data. failed: crashed, ran out of memory or did not end.
#: skipped: the budget was used up before its turn.
Status = Literal["measured", "sampled", "refused", "failed", "skipped"]


class Row(NamedTuple):
    """One combination: a chain, on so many threads, over so many records."""

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
    #: Bytes of the container; those of them that are not payload; the source's bytes over both.
    size: int | None
    overhead: int | None
    ratio: float | None
    #: Fastest of the runs, for the whole source. ``pack`` proves as ``serialpack pack`` does.
    pack_seconds: float | None
    unpack_seconds: float | None
    pack_speed: float | None
    unpack_speed: float | None
    #: The same by step, fastest of the runs: serialize, prove, compress, undo, decompress,
    #: deserialize. ``serialize`` and ``deserialize`` are what the field calls write and read.
    seconds: dict[str, float]
    #: How often it was run, and how much slower than the fastest the median run was (0.05: 5 %).
    runs: int
    spread: float | None
    #: Peak bytes above those of the idle process that holds the source.
    memory: int | None
    #: exact: the very bytes came back; faithful: the same values.
    kept: Literal["exact", "faithful"] | None
    #: What people choose by: portable, text, safe (serialpack inspect --stages).
    traits: list[str]
    #: On the Pareto front of size against the time to pack and unpack; what ``auto`` would choose.
    front: bool = False
    auto: bool = False
    #: Size over the least that any chain can reach, where that is known of the sample.
    over_limit: float | None = None
    #: The size of the blocks that it was split into.
    block_size: int = 4 << 20
    #: The mean of all runs, where ``pack_seconds`` and ``unpack_seconds`` are of the fastest one.
    pack_mean: float | None = None
    unpack_mean: float | None = None
    #: As ``seconds``, the mean of all runs; None where steps were not timed.
    means: dict[str, float] | None = None
    #: Where some of several files were measured: the share that the size may be off, because others
    #: could have been drawn (0.02: 2 %; two standard errors).
    error: float | None = None


class Anchor(NamedTuple):
    """Something to compare the rows with: memcpy, or a stock tool. Times as in ``Row``."""

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
    """A row to take: ``kind`` says for what, ``command`` what to run for it."""

    kind: Literal["smallest", "fastest", "balanced", "portable"]
    chain: str
    threads: int
    #: Whether size and times are those of the whole source.
    whole: bool
    size: int
    command: str
    why: str


class Entropy(NamedTuple):
    """The least bytes that the data of a sample can take: its entropy, and where that is from."""

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
    """Several files: how many, their bytes, how many are empty, and which were measured."""

    total: int
    size: int
    empty: int
    measured: list[str]


def shown_source(source: str) -> str:
    """The name of the source, as people read it."""
    return "standard input" if source == "-" else source


class Results(NamedTuple):
    """All that one run of bench found."""

    #: What was measured: a file's path, a sample (``contacts:60000``), or ``-``: a pipe.
    source: str
    #: file: bytes are packed. object: Python objects are dumped and loaded.
    mode: Literal["file", "object"]
    format: str
    size: int
    records: int | None
    #: Bytes of the source that were held; sampled rows were measured with these or a part of them.
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
    #: What rows measured whole went through: memory, or files (disk, cold-files, cold-all).
    through: str = "memory"
    #: Of several files, which were measured; ``size`` is that of all, ``sampled`` what was held of
    #: those.
    files: SampledFiles | None = None

    def to_json(self) -> dict[str, Any]:
        """Everything, as values of JSON."""
        return {"version": VERSION, **_plain(self)}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: _plain(field) for name, field in value._asdict().items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def from_json(data: Any) -> Results:
    """The results that ``to_json`` gave; ValueError where it is not of this form."""
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
    """Seconds to pack and unpack: what the Pareto front holds against the size."""
    return cast(float, row.pack_seconds) + cast(float, row.unpack_seconds)
