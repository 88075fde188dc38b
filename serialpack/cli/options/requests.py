"""What was asked for: the options of a verb, frozen.

Their names are those of the options (``declared`` and each verb's own); what two verbs share
stands in a part of its own, and so does what goes together in one.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple, TypedDict, TypeVar

from serialpack.detection.detect import AsFound

Request = TypeVar("Request")


class Manner(NamedTuple):
    """How to talk: what the options of every verb ask for."""

    as_json: bool
    quiet: bool
    verbose: bool
    no_progress: bool


class Sources(NamedTuple):
    """Which inputs beside those that are named: the options of the verbs that take several."""

    recursive: bool
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    gitignore: bool
    files_from: str | None
    nul: bool


class Outputs(NamedTuple):
    """Where to write, and what around it: the options of the verbs that write files."""

    output: str | None
    force: bool
    keep: bool
    dry_run: bool
    threads: int | None
    stats: bool
    profile: str | None
    skip_existing: bool
    sync: str
    journal: str | None
    scheduler: str | None


class InputOptions(TypedDict):
    """What ``InputFormat`` says, as keywords of the functions of the library."""

    format: str | None
    delimiter: str | None
    encoding: str | None
    no_header: bool
    options: dict[str, Any]


class InputFormat(NamedTuple):
    """How inputs are written, where that does not show: the options of ``pack`` and ``--to``."""

    format: str | None
    delimiter: str | None
    encoding: str | None
    no_header: bool
    schema: str | None
    message: str | None

    def options(self) -> InputOptions:
        given = {"schema": self.schema, "message": self.message}
        return {
            "format": self.format,
            "delimiter": self.delimiter,
            "encoding": self.encoding,
            "no_header": self.no_header,
            "options": {name: value for name, value in given.items() if value is not None},
        }


class Conversion(NamedTuple):
    """What goes with ``--to``, and with nothing else that ``unpack`` does."""

    table: str | None
    lossy: tuple[str, ...]
    strict: bool
    at: str | None
    columnar: bool
    header: bool
    null: str | None
    typed: bool
    nest: str | None
    infer: bool
    types: tuple[str, ...]
    indent: int | None
    ascii: bool
    flatten: bool
    separator: str | None
    out_delimiter: str | None
    tagged: bool
    skip_bad: bool
    fields: tuple[str, ...]
    no_verify: bool


class StoredValues(NamedTuple):
    """The values of a store: how they are written, under which keys, and which one is wanted."""

    serializer: str
    codec: str
    key: str | None
    duplicates: Any
    get: str | None


class PackRequest(NamedTuple):
    """What ``pack`` is asked for."""

    files: tuple[str, ...]
    serializer: str
    filters: tuple[str, ...]
    codec: str
    effort: int | None
    exact: bool
    no_verify: bool
    trust: bool
    block_size: int | None
    meta: tuple[tuple[str, str], ...]
    shared_dict: str | None
    archive: bool
    owner: bool
    input: InputFormat
    sources: Sources
    outputs: Outputs
    manner: Manner


class UnpackRequest(NamedTuple):
    """What ``unpack`` is asked for."""

    files: tuple[str, ...]
    to: str | None
    test: bool
    salvage: bool
    records: tuple[int, int | None] | None
    byte_range: tuple[int, int | None] | None
    name: bool
    max_size: int | None
    shared_dict: str | None
    trust: bool
    input: InputFormat
    conversion: Conversion
    values: StoredValues
    sources: Sources
    outputs: Outputs
    manner: Manner

    @property
    def whole(self) -> bool:
        """Whether inputs are to be given whole: no part of them, nor what is left, nor a test."""
        return not (self.test or self.salvage or self.records or self.byte_range)


class InspectRequest(NamedTuple):
    """What ``inspect`` is asked for."""

    files: tuple[str, ...]
    stages: bool
    fidelity: bool
    blocks: bool
    columns: bool
    head: int | None
    max_size: int | None
    shared_dict: str | None
    format: str | None
    delimiter: str | None
    encoding: str | None
    no_header: bool
    sources: Sources
    manner: Manner

    @property
    def table(self) -> AsFound:
        """What is said of a source that is CSV."""
        return AsFound(self.delimiter, self.encoding, self.no_header)


class BenchRequest(NamedTuple):
    """What ``bench`` is asked for."""

    files: tuple[str, ...]
    serializers: tuple[str, ...]
    filters: tuple[str, ...]
    codecs: tuple[str, ...]
    format: str | None
    budget: float | None
    sample: str | None
    sweep: str | None
    prefer: Any
    line: float | None
    peers: bool
    threads: tuple[int, ...] | None
    store: str | None
    disk: bool
    cold: bool
    cold_all: bool
    report: str
    plot: str | None
    html: str | None
    save: str | None
    compare: str | None
    force: bool
    sources: Sources
    manner: Manner


#: Under which field a request keeps them.
_PARTS: dict[str, Any] = {
    "input": InputFormat,
    "conversion": Conversion,
    "values": StoredValues,
    "sources": Sources,
    "outputs": Outputs,
    "manner": Manner,
}


def request(
    kind: Callable[..., Request],
) -> Callable[[Callable[[Request], int]], Callable[..., int]]:
    """Makes a function of a ``kind``, a named tuple, one of the options that are its fields."""
    fields: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]

    def decorate(run: Callable[[Request], int]) -> Callable[..., int]:
        @wraps(run)
        def called(**options: Any) -> int:
            for field, part in _PARTS.items():
                if field in fields:
                    options[field] = part(**{name: options.pop(name) for name in part._fields})
            return run(kind(**options))

        return called

    return decorate


Files = TypeVar("Files", PackRequest, UnpackRequest)


def as_workers_see(asked: Files) -> Files:
    """``asked``, in which files that all workers of a cluster read are named from the root."""
    if asked.outputs.scheduler is None:
        return asked
    from serialpack.cli.naming import from_root

    schema, shared = (
        None if name is None else from_root(name)
        for name in (asked.input.schema, asked.shared_dict)
    )
    return asked._replace(input=asked.input._replace(schema=schema), shared_dict=shared)
