"""Avro as a source: object container files.

A file begins with its schema, so files put together are no file: each serialized block is one of
its own. Values are those of the logical types where Python has them to the last digit: instants
(in UTC), local times, dates, times of day, decimals, UUIDs; enums are text. Which branch of a
union a value was written as is known to the file only.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from serialpack.depth.values import levels
from serialpack.errors import RefusedError
from serialpack.formats.avro.file import (
    BlockScan,
    parse_schema,
    read_header,
    read_values,
    take_apart,
    write_values,
)
from serialpack.formats.avro.types import Lower, made_for, schema_of
from serialpack.formats.base import Difference, Read, SourceBlock, Style, StyleTypes, Unheld
from serialpack.formats.shared.document import DocumentFormat, Malformed, compared
from serialpack.formats.shared.split import SequenceFinder, split_plain, split_records
from serialpack.stages.stage import Buffer

if TYPE_CHECKING:
    from serialpack.formats.avro.join import AvroJoin
    from serialpack.formats.shared.column_types import ColumnType

_SCALARS: frozenset[type] = frozenset({str, int, float, bool, type(None), bytes})

#: The longest schema that is remembered in a header, to write the values under it again.
_MOST = 8 << 10

#: Bytes at the front that are read to know whether a file is compressed.
_FRONT = 64 << 10
#: A compressed file is cut into blocks so many times smaller than others.
_RATIO = 8


class AvroFormat(DocumentFormat):
    """Avro's object container files."""

    style_types: ClassVar[StyleTypes] = {
        "schema": (str,),
        "codec": (str,),
        "meta": (dict,),
    }
    title = "Avro"
    about = "Avro object container files"

    @property
    def join(self) -> AvroJoin:
        from serialpack.formats.avro.join import AvroJoin

        return AvroJoin()

    def split(
        self,
        read: Read,
        block_size: int,
        *,
        for_values: bool = False,
        most_values: int = 0,  # noqa: ARG002
    ) -> Iterator[SourceBlock]:
        if not for_values:
            return split_plain(read, block_size)
        front = read(_FRONT)
        if not _is_plain(front):  # memory is taken by what it restores to
            block_size = max(block_size // _RATIO, 1)
        return _headed(_rejoined(front, read), block_size)

    def sample(self, block: SourceBlock) -> dict[str, Any]:
        """As ``ValueFormat.sample``, from the schema; null where a field has no simple type."""
        schema = read_header(block.context or bytes(block.data)).schema().json
        fields = schema.get("fields", []) if isinstance(schema, dict) else []
        return {field["name"]: _sample(field["type"]) for field in fields}

    def read(self, data: bytes) -> list[Any]:
        return read_values(take_apart(data))

    def read_block(self, block: SourceBlock) -> list[Any]:
        header = read_header(block.context) if block.context else None
        return read_values(take_apart(bytes(block.data), header))

    def in_source(
        self,
        block: SourceBlock,
        style: Style,  # noqa: ARG002
        first: Callable[[], Buffer],
    ) -> SourceBlock:
        if not block.index:
            return block
        data = bytes(first())
        try:
            return block._replace(context=data[: read_header(data).end])
        except Malformed:  # which is said of the block then
            return block

    def write(self, records: list[Any]) -> bytes:
        return _written(records, *made_for(records))

    def writer_of(self, column: ColumnType) -> Callable[[list[Any]], bytes]:
        """Writes files of records of one type; errors as of ``write``, Mixed here too."""
        schema, lower = schema_of(column)
        return lambda records: _written(records, schema, lower)

    def detect_style(self, block: SourceBlock) -> Style:
        """The schema and what else the header says, where it is not too long."""
        try:
            style = _style(bytes(block.data))
        except Exception:  # the block will be parsed, and say what is wrong
            return {}
        return style if len(json.dumps(style)) <= _MOST else {}

    def style_changes(self, block: SourceBlock, style: Style) -> Style:
        """What ``detect_style`` finds in each of several blocks, where the schema is too long for
        the style of the source."""
        if "schema" in style or (block.index == 0 and block.last):
            return {}
        try:
            return _style(block.context or bytes(block.data))
        except Exception:  # as above
            return {}

    def write_text(self, records: list[Any], style: Style, *, first: bool) -> bytes:
        text, codec = style.get("schema"), style.get("codec", "null")
        meta = style.get("meta", {})
        if not isinstance(text, str) or codec not in ("null", "deflate"):
            if not first:
                raise ValueError("blocks of a file whose schema is not known")
            return self.write(records)
        if not isinstance(meta, dict) or not all(
            isinstance(word, str) for pair in meta.items() for word in pair
        ):
            raise ValueError("not a style of Avro")
        data = write_under(text, records, codec=codec, meta=meta)
        return data if first else data[read_header(data).end :]

    def difference(self, block: SourceBlock, restored: Buffer) -> Difference | None:
        if not block.context:
            return super().difference(block, restored)
        head = self.write_text([], _style(block.context), first=True)
        return compared(self.parse(block), self.read(head + bytes(restored)))


def _written(records: list[Any], schema: Any, lower: Lower) -> bytes:
    if lower is None:
        return write_values(records, schema)
    return write_values([lower(record) for record in records], schema, tagged=True)


def _style(data: bytes) -> Style:
    """How to write values under the header of a file again; Malformed where it has none."""
    header = read_header(data)
    own: dict[str, str] = {}
    for key, value in header.meta.items():
        if not key.startswith("avro."):
            own[key] = str(value, "utf-8")
    style: Style = {"schema": json.dumps(header.schema().json, separators=(",", ":"))}
    if header.codec == "deflate":
        style["codec"] = header.codec
    if own:
        style["meta"] = own
    return style


def _sample(schema: Any) -> Any:
    kinds = [each for each in schema if each != "null"] if isinstance(schema, list) else [schema]
    kind = kinds[0] if len(kinds) == 1 else None
    if isinstance(kind, dict) and "logicalType" not in kind:
        kind = kind["type"]
    return _SAMPLES.get(kind) if isinstance(kind, str) else None


_SAMPLES: dict[str, Any] = {
    "boolean": False,
    "int": 0,
    "long": 0,
    "float": 0.0,
    "double": 0.0,
    "bytes": b"",
    "string": "",
    "enum": "",  # which is read as text
}


def _is_plain(front: bytes) -> bool:
    """Whether a file with this front is known to be not compressed."""
    try:
        return read_header(front).codec == "null"
    except Malformed:
        return False


def _rejoined(front: bytes, read: Read) -> Read:
    """Reads ``front``, which was read before, and then what ``read`` gives."""
    left = memoryview(front)

    def read_on(size: int) -> bytes:
        nonlocal left
        taken, left = bytes(left[:size]), left[size:]
        return taken + read(size - len(taken)) if len(taken) < size else taken

    return read_on


def _headed(read: Read, block_size: int) -> Iterator[SourceBlock]:
    """Blocks of whole blocks of a file, with its header."""
    scan = BlockScan()
    for block in split_records(read, block_size, SequenceFinder(scan), for_values=True):
        yield block._replace(context=scan.head) if block.index else block


def write_under(
    schema: str, records: list[Any], *, codec: str = "null", meta: dict[str, str] | None = None
) -> bytes:
    """A file of ``records`` under the schema in a text; ValueError or TypeError, as it fits."""
    parsed = parse_schema(schema)
    skimmer = parsed.skimmer()
    if skimmer.recursive:
        levels(records, _SCALARS, lambda _: [])
    data = write_values(records, parsed.json, codec=codec, meta=meta)
    if '"int"' in schema:  # of these, fastavro writes any number; to validate them takes it longer
        try:
            for block in take_apart(data).blocks:
                skimmer.skim(block.data, block.values, block.at)
        except (RefusedError, Unheld) as error:
            raise ValueError(str(error)) from None
    return data
