"""protobuf: Protocol Buffers, as a delimited stream of messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from serialpack.errors import UnsupportedError, UsageError
from serialpack.formats import FORMATS
from serialpack.formats.base import Style
from serialpack.formats.protobuf import wire
from serialpack.formats.protobuf.protobuf import ProtobufFormat
from serialpack.formats.shared.document import Malformed
from serialpack.serializers.base import FAILURES, RecordSerializer
from serialpack.serializers.of_format import read_stored
from serialpack.stages.stage import Buffer
from serialpack.values.kinds import BEYOND_JSON, Difference


class ProtobufSerializer(RecordSerializer):
    """Messages of the user's schema or, without one, google.protobuf.Value.

    Options: ``schema``, the path of a .proto file or of a FileDescriptorSet, and ``message``, the
    name of the message that a record is. What is declared here is said of Value: a schema may
    hold more, such as all integers of 64 bits, and bytes.
    """

    library = "google.protobuf"
    distribution = "protobuf"
    extra = "protobuf"
    stored_format = "protobuf"
    takes_options = True
    cannot = (BEYOND_JSON | {"inexact-integer", "uint64", "bigint", "surrogates"}) - {
        "non-finite",
        "nan-bits",
    }
    partly = frozenset({"integral-float"})
    compiled = True
    about = "Protocol Buffers, with your schema or as google.protobuf.Value"

    def __init__(self, name: str, values: tuple[int, ...] = ()) -> None:
        super().__init__(name, values)
        self._format = cast(ProtobufFormat, FORMATS.get("protobuf"))
        self._message: Any = None

    @classmethod
    def settings(cls, options: Mapping[str, Any]) -> Style:
        if not options:
            return {}
        odd = options.keys() - {"schema", "message"}
        if odd or len(options) < 2:
            wants = "protobuf takes a schema and the name of a message of it"
            raise UsageError(
                f"{wants}, and no {', '.join(sorted(odd))}" if odd else wants,
                hint="--schema FILE.proto --message NAME",
            )
        from serialpack.serializers._protocompile import compiled, full_name, message_of

        schema = compiled(options["schema"])
        name = full_name(schema, options["message"])
        try:
            message_of(schema, name)
        except ValueError as error:
            said = f"the schema cannot be used: {error}"
            raise UsageError(said, path=str(options["schema"])) from None
        return {"schema": schema, "message": name}

    def configure(self, settings: Style) -> None:
        if not settings:
            return
        from serialpack.serializers._protocompile import message_of

        schema, name = settings.get("schema"), settings.get("message")
        if not isinstance(schema, bytes) or not isinstance(name, str):
            raise UnsupportedError("needs a protobuf schema that is not in its header")
        try:
            self._message = message_of(schema, name)
        except ValueError as error:
            raise UnsupportedError(f"needs a protobuf schema that is none ({error})") from None

    def _dump(self, records: list[Any]) -> bytes:
        if self._message is None:
            return self._format.write(records)
        return wire.delimited(map(self._message.write, records))

    def _load(self, data: Buffer) -> list[Any]:
        return read_stored(self._read, data)

    def _read(self, data: bytes) -> list[Any]:
        if self._message is None:
            return self._format.read(data)
        return [self._message.read(data, *span) for span in wire.split_delimited(data)]

    def count(self, data: Buffer) -> int | None:
        if self._message is None:
            return None
        try:
            return len(self._read(bytes(data)))
        except Malformed as bad:
            of = self._message.name
            raise Malformed(f"not a delimited stream of {of}: {bad.message}", bad.at) from None

    def blame(self, records: list[Any], error: Exception) -> Difference:
        from serialpack.serializers._protoscalars import Unfit
        from serialpack.values.kind_of import lost_value

        write = wire.write_value if self._message is None else self._message.write
        for number, record in enumerate(records):
            try:
                write(record)
            except Unfit as unfit:
                lost = lost_value(f"${unfit.path}", unfit.value, unfit.message)
                return lost._replace(record=number)
            except FAILURES:
                return super().blame([record], error)._replace(record=number)
        return super().blame(records, error)
