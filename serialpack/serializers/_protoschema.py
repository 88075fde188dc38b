"""Records as messages of a user's schema: fields on the wire in the record's own order.

By hand, like google.protobuf.Value: the library would forget the order of keys, and whether a
zero was written. What is on the wire is what is in the record, so it comes back the same:

- a key that is there is written, though it be zero; one that is absent is not;
- an enum is the text of its name, or an integer that has no name; bytes are bytes;
- a list or a map that is empty has no form on the wire (but for packed numbers): a message always
  has all of its lists, so a record without one is refused, and so is one whose empty list does
  not stand in the schema's order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from serialpack.formats.protobuf import wire
from serialpack.formats.shared.document import Malformed
from serialpack.serializers._protoscalars import SCALARS, Scalar, Unfit, enum
from serialpack.values.kinds import shown, value_step

#: How deep messages may nest: what protobuf's own libraries read.
MOST_NESTED = 100


class ProtoField(NamedTuple):
    """A field of a message. ``entry``: the types of keys and values where it is a map."""

    name: str
    tag: bytes
    kind: Scalar
    repeated: bool
    packed: bool
    entry: tuple[Scalar, Scalar] | None
    oneof: str | None


class ProtoSchema:
    """The messages of one FileDescriptorSet, each made when it is first met."""

    def __init__(self) -> None:
        self._messages: dict[str, Message] = {}

    def message(self, descriptor: Any) -> Message:
        found = self._messages.get(descriptor.full_name)
        if found is None:
            found = self._messages[descriptor.full_name] = Message(descriptor.full_name)
            found.complete(descriptor, self)
        return found

    def kind(self, descriptor: Any) -> Scalar:
        """How the values of a field are written. ValueError for types that are not supported."""
        if descriptor.type == descriptor.TYPE_GROUP:
            raise ValueError(f"{descriptor.full_name} is a group, which only other tools read")
        if descriptor.message_type is not None:
            inner = self.message(descriptor.message_type)
            return Scalar(wire.BYTES, inner.write_behind_length, inner.read_behind_length, None)
        if descriptor.enum_type is not None:
            return enum(descriptor.enum_type)
        return SCALARS[descriptor.type]


class Message:
    """One type of messages: writes a map, reads it again."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._fields: dict[str, ProtoField] = {}
        self._by_number: dict[int, ProtoField] = {}
        self._required: list[str] = []
        #: The fields that every message has: repeated ones and maps.
        self._lists: dict[str, ProtoField] = {}

    def complete(self, descriptor: Any, schema: ProtoSchema) -> None:
        for each in descriptor.fields:
            inner = each.message_type
            entry = None
            if inner is not None and inner.GetOptions().map_entry:
                by_name = inner.fields_by_name
                entry = schema.kind(by_name["key"]), schema.kind(by_name["value"])
            kind = entry[1] if entry else schema.kind(each)
            packed = each.is_repeated and not entry and each.is_packed
            field = ProtoField(
                each.name,
                wire.varint(each.number << 3 | (wire.BYTES if packed or entry else kind.layout)),
                kind,
                each.is_repeated,
                packed,
                entry,
                each.containing_oneof.name if each.containing_oneof is not None else None,
            )
            self._fields[field.name] = self._by_number[each.number] = field
            if each.is_required:
                self._required.append(field.name)
            if each.is_repeated:
                self._lists[field.name] = field

    def write(self, record: Any, depth: int = 0) -> bytes:
        """The message that holds ``record``; Unfit or RecursionError where none does."""
        if type(record) is not dict:
            raise Unfit(f"{self.name} is wanted", record)
        if depth >= MOST_NESTED:
            raise RecursionError(f"more than {MOST_NESTED} messages within each other")
        out: list[bytes] = []
        oneofs: dict[str, str] = {}
        written: dict[str, Any] = {}
        for name, value in record.items():
            field = self._fields.get(name)
            if field is None:
                raise Unfit(f"{self.name} has no field of this name", value, value_step(name))
            if field.oneof is not None and oneofs.setdefault(field.oneof, name) != name:
                other = oneofs[field.oneof]
                raise Unfit(f"{self.name} has it or {other}, not both", value, value_step(name))
            try:
                pieces = self._pieces(field, value, depth)
            except Unfit as unfit:
                unfit.path = value_step(name) + unfit.path
                raise
            if pieces:
                written[name] = None
                out += pieces
        for name in self._required:
            if name not in record:
                raise Unfit(f"{self.name} must have {name}", record)
        if len(written) < len(record) or any(name not in record for name in self._lists):
            self._check_lists(record, written)
        return b"".join(out)

    def _pieces(self, field: ProtoField, value: Any, depth: int) -> list[bytes]:
        if not field.repeated:
            return [field.tag, field.kind.write(value, depth)]
        if field.entry:
            return _entries(field, value, depth)
        if type(value) is not list:
            raise Unfit("a list is wanted", value)
        out: list[bytes] = []
        for number, item in enumerate(value):
            try:
                piece = field.kind.write(item, depth)
            except Unfit as unfit:
                unfit.path = f"[{number}]" + unfit.path
                raise
            out += [piece] if field.packed else [field.tag, piece]
        if field.packed:
            body = b"".join(out)
            return [field.tag, wire.varint(len(body)), body]
        return out

    def _check_lists(self, record: dict[str, Any], written: dict[str, Any]) -> None:
        for name in self._lists:
            if name not in record:
                raise Unfit(f"{self.name} always has {name}: an empty one is wanted", record)
        if list(self._with_lists(written)) != list(record):
            raise Unfit(f"its empty lists do not stand in the order of {self.name}", record)

    def _with_lists(self, record: dict[str, Any]) -> dict[str, Any]:
        """``record`` with the lists that it lacks, in the schema's order if it was in that."""
        absent = [name for name in self._lists if name not in record]
        if not absent:
            return record
        empty: dict[str, Any] = {name: {} if self._lists[name].entry else [] for name in absent}
        together = record | empty
        ordered = {name: together[name] for name in self._fields if name in together}
        return ordered if list(record) == [n for n in ordered if n in record] else together

    def read(self, data: bytes, at: int, end: int, depth: int = 0) -> dict[str, Any]:
        """The record between ``at`` and ``end``; Malformed where this schema has no such one."""
        if depth >= MOST_NESTED:
            raise Malformed(f"more than {MOST_NESTED} messages within each other", at)
        record: dict[str, Any] = {}
        oneofs: dict[str, str] = {}
        start = at
        while at < end:
            begin = at
            number, at = wire.read_varint(data, at, end)
            number, layout = number >> 3, number & 7
            field = self._by_number.get(number)
            if field is None:
                raise Malformed(f"field {number} of {self.name} is not in this schema", begin)
            if field.entry:
                _expect(layout == wire.BYTES, field, begin)
                at = _read_entry(record.setdefault(field.name, {}), field, data, at, end, depth)
            elif field.repeated and layout == wire.BYTES and field.kind.layout != wire.BYTES:
                items = record.setdefault(field.name, [])
                at, last = wire.read_length(data, at, end)
                while at < last:
                    item, at = field.kind.read(data, at, last, depth)
                    items.append(item)
            else:
                _expect(layout == field.kind.layout, field, begin)
                value, at = field.kind.read(data, at, end, depth)
                if field.repeated:
                    record.setdefault(field.name, []).append(value)
                    continue
                _expect(field.name not in record, field, begin, "is there twice")
                if field.oneof is not None:
                    other = oneofs.setdefault(field.oneof, field.name)
                    _expect(other == field.name, field, begin, f"is there beside {other}")
                record[field.name] = value
        for name in self._required:
            if name not in record:
                raise Malformed(f"{self.name} without {name}", start)
        return self._with_lists(record)

    def write_behind_length(self, record: Any, depth: int) -> bytes:
        body = self.write(record, depth + 1)
        return wire.varint(len(body)) + body

    def read_behind_length(self, data: bytes, at: int, end: int, depth: int) -> tuple[Any, int]:
        at, stop = wire.read_length(data, at, end)
        return self.read(data, at, stop, depth + 1), stop


def _expect(right: bool, field: ProtoField, at: int, what: str = "is of another type") -> None:
    if not right:
        raise Malformed(f"field {field.name} {what}", at)


def _entries(field: ProtoField, value: Any, depth: int) -> list[bytes]:
    assert field.entry is not None
    if type(value) is not dict:
        raise Unfit("a map is wanted", value)
    keys, values = field.entry
    before, between = bytes([1 << 3 | keys.layout]), bytes([2 << 3 | values.layout])
    out: list[bytes] = []
    for key, item in value.items():
        try:
            body = before + keys.write(key, depth) + between + values.write(item, depth)
        except Unfit as unfit:
            unfit.path = value_step(key) + unfit.path
            raise
        out += field.tag, wire.varint(len(body)), body
    return out


def _read_entry(
    into: dict[Any, Any], field: ProtoField, data: bytes, at: int, end: int, depth: int
) -> int:
    assert field.entry is not None
    start, stop = wire.read_length(data, at, end)
    found: dict[int, Any] = {}
    at = start
    while at < stop:
        begin = at
        tag, at = wire.read_varint(data, at, stop)
        number, layout = tag >> 3, tag & 7
        _expect(number in (1, 2) and number not in found, field, begin, "has an odd entry")
        kind = field.entry[number - 1]
        _expect(layout == kind.layout, field, begin)
        found[number], at = kind.read(data, at, stop, depth)
    key = found.get(1, field.entry[0].default)
    if 2 not in found and field.entry[1].default is None:  # a message, with all that it must have
        found[2], _ = field.entry[1].read(b"\0", 0, 1, depth)
    _expect(key not in into, field, start, f"has the key {shown(key)} twice")
    into[key] = found.get(2, field.entry[1].default)
    return stop
