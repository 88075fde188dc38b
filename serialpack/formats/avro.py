"""Avro as a source: object container files.

A file begins with its schema, so files put together are no file: each serialized block is one of
its own. Values are those of the logical types where Python has them to the last digit: instants
(in UTC), local times, dates, times of day, decimals, UUIDs; enums are text. Which branch of a
union a value was written as is known to the file only.
"""

from __future__ import annotations

import json
from typing import Any

from serialpack.errors import RefusedError
from serialpack.formats._avrofile import (
    parse_schema,
    read_values,
    take_apart,
    write_values,
)
from serialpack.formats._avrotypes import made_for
from serialpack.formats._document import DocumentFormat
from serialpack.formats._nesting import levels
from serialpack.formats.base import SourceBlock, Spelling, Unheld

_SCALARS: frozenset[type] = frozenset({str, int, float, bool, type(None), bytes})

#: The longest schema that is remembered in a header, to write the values under it again.
_MOST = 8 << 10


class Avro(DocumentFormat):
    """Avro's object container files."""

    name = "avro"
    number = 13
    joins = False
    title = "Avro"
    about = "Avro object container files"

    def read(self, data: bytes) -> list[Any]:
        return read_values(take_apart(data))

    def write(self, records: list[Any]) -> bytes:
        schema, lower = made_for(records)
        if lower is None:
            return write_values(records, schema)
        return write_values([lower(record) for record in records], schema, tagged=True)

    def learn(self, block: SourceBlock) -> Spelling:
        """The schema and what else the header says, where it is not too long."""
        try:
            container = take_apart(bytes(block.data))
            own = {
                key: str(value, "utf-8")
                for key, value in container.meta.items()
                if not key.startswith("avro.")
            }
        except Exception:  # the block will be parsed, and say what is wrong
            return {}
        spelling: Spelling = {"schema": json.dumps(container.schema.json, separators=(",", ":"))}
        if container.codec == "deflate":
            spelling["codec"] = container.codec
        if own:
            spelling["meta"] = own
        return spelling if len(json.dumps(spelling)) <= _MOST else {}

    def spell(self, records: list[Any], spelling: Spelling, *, first: bool) -> bytes:  # noqa: ARG002
        text, codec = spelling.get("schema"), spelling.get("codec", "null")
        meta = spelling.get("meta", {})
        if not isinstance(text, str) or codec not in ("null", "deflate"):
            return self.write(records)
        if not isinstance(meta, dict) or not all(
            isinstance(word, str) for pair in meta.items() for word in pair
        ):
            raise ValueError("not a spelling of Avro")
        return write_under(text, records, codec=codec, meta=meta)


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
