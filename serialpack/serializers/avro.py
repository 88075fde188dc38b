"""avro: Avro object container files, each block one of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from serialpack.errors import UnsupportedError, UsageError
from serialpack.formats import FORMATS
from serialpack.formats.avro import file as avro_file
from serialpack.formats.avro.avro import AvroFormat, write_under
from serialpack.formats.base import Style
from serialpack.serializers._schemafile import check_size, read_schema
from serialpack.serializers._wholefiles import WholeFiles
from serialpack.serializers.of_format import read_stored
from serialpack.stages.stage import Buffer
from serialpack.values.kinds import BEYOND_JSON, Difference, shown


class AvroSerializer(WholeFiles):
    """Avro, under the user's schema or, without one, under a schema made for the records.

    The option ``schema`` is the path of an .avsc file. Reading with another schema than the one
    that the data were written under follows Avro's rules of resolution: fields may be there or
    not, numbers widened. A schema made for the records keeps absent keys apart from null.
    """

    library = "fastavro"
    distribution = "fastavro"
    extra = "avro"
    stored_format = "avro"
    takes_options = True
    cannot = (BEYOND_JSON | {"uint64", "bigint", "surrogates"}) - {
        *("non-finite", "nan-bits", "bytes", "decimal", "uuid"),
        *("utc-datetime", "local-datetime", "date", "time"),
    }
    partly = frozenset({"decimal"})
    compiled = True
    about = "Avro container files, with your schema or one made for the records"

    def __init__(self, name: str, values: tuple[int, ...] = ()) -> None:
        super().__init__(name, values)
        self._format = cast(AvroFormat, FORMATS.get("avro"))
        self._schema: avro_file.AvroSchema | None = None
        self._text = ""

    @classmethod
    def settings(cls, options: Mapping[str, Any]) -> Style:
        if not options:
            return {}
        if odd := sorted(options.keys() - {"schema"}):
            raise UsageError(f"avro takes a schema, and no {', '.join(odd)}")
        text = read_schema(options["schema"])
        try:
            schema = avro_file.parse_schema(text)
            schema.skimmer()
        except ValueError as error:
            said = f"the schema cannot be used: {error}"
            raise UsageError(said, path=str(options["schema"])) from None
        kept = json.dumps(schema.json, separators=(",", ":"))
        check_size(kept)
        return {"schema": kept}

    def configure(self, settings: Style) -> None:
        if not settings:
            return
        self._text = settings.get("schema", "")
        try:
            self._schema = avro_file.parse_schema(self._text)
            self._schema.skimmer()
        except (ValueError, TypeError) as error:
            raise UnsupportedError(f"needs an Avro schema that is none ({error})") from None

    def _dump(self, records: list[Any]) -> bytes:
        if self._schema is None:
            return self._format.write(records)
        return write_under(self._text, records)

    def _load(self, data: Buffer) -> list[Any]:
        return read_stored(self._read, data)

    def _read(self, data: bytes) -> list[Any]:
        container = avro_file.take_apart(data)
        same = self._schema is None or self._schema.same(container.schema)
        return avro_file.read_values(
            container, reader=None if same else self._schema, careful=False
        )

    def blame_one(self, record: Any, error: Exception) -> Difference:
        """With a schema, the field that it does not take; else as always."""
        if self._schema is None:
            return super().blame_one(record, error)
        from fastavro.validation import ValidationError, validate

        from serialpack.values.kind_of import lost_value

        try:
            validate(record, self._schema.parsed, strict=True)
        except ValidationError as invalid:
            first = invalid.errors[0]
            place = str(first.field).partition(".")[2]
            path = f"$.{place}" if place else "$"
            return lost_value(path, first.datum, f"{first.schema!s:.80} is wanted")
        except Exception as other:  # what it trips over
            error = other
        if isinstance(error, RecursionError):
            return super().blame_one(record, error)
        return Difference(0, "$", shown(record), "", "value", str(error))
