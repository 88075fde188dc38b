"""The schema of a shop, an order that keeps to it, and protobuf with a schema."""

from __future__ import annotations

from typing import Any

from serialpack.serializers import SERIALIZERS
from serialpack.serializers.base import RecordSerializer

SHOP = """
syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
import "common.proto";
message Order {
  int64 id = 1;
  string name = 2;
  repeated int32 quantities = 3;
  repeated string tags = 4;
  map<string, Price> prices = 5;
  map<int32, bool> flags = 6;
  oneof payment { string card = 7; bytes token = 8; }
  optional int32 rank = 9;
  float weight = 10;
  double exact = 11;
  Colour colour = 12;
  google.protobuf.Timestamp when = 13;
  Order parent = 14;
  common.Address address = 16;
  uint64 big = 17;
  sint32 small = 18;
  sfixed64 fixed = 19;
  fixed32 word = 20;
  bool yes = 21;
  sint64 zigzag = 22;
  uint32 count = 23;
  sfixed32 step = 24;
  fixed64 hash = 25;
  message Inner { repeated double points = 1 [packed = false]; }
  Inner inner = 2000;
}
message Price { double amount = 1; string currency = 2; }
enum Colour { option allow_alias = true; UNKNOWN = 0; RED = 1; BLUE = 2; AZURE = 2; }
"""
COMMON = """
syntax = "proto3";
package common;
message Address { string street = 1; repeated string lines = 2; }
"""
#: What every order has.
LISTS: dict[str, Any] = {"quantities": [], "tags": [], "prices": {}, "flags": {}}
ORDER: dict[str, Any] = {
    "id": -5,
    "name": "\u00e9",
    "quantities": [1, -2, 2**31 - 1],
    "tags": ["b", "a"],
    "prices": {"z": {"amount": 1.5, "currency": "EUR"}, "a": {"currency": ""}},
    "flags": {7: True, -1: False},
    "token": b"\0\xff",
    "rank": 0,
    "weight": 0.5,
    "exact": -0.0,
    "colour": "BLUE",
    "when": {"seconds": 1, "nanos": 0},
    "parent": {"id": 0, **LISTS},
    "address": {"lines": []},
    "big": 2**64 - 1,
    "small": -(2**31),
    "fixed": -(2**63),
    "word": 2**32 - 1,
    "yes": False,
    "zigzag": -(2**63),
    "count": 2**32 - 1,
    "step": -(2**31),
    "hash": 2**64 - 1,
    "inner": {"points": [0.0, float("inf")]},
}


def configured(options: dict[str, Any]) -> RecordSerializer:
    serializer = SERIALIZERS.create("protobuf")
    assert isinstance(serializer, RecordSerializer)
    serializer.configure(serializer.settings(options))
    return serializer


def message_class(options: dict[str, Any]) -> Any:
    """The message as the library itself has it."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    settings = SERIALIZERS.cls("protobuf").settings(options)
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(settings["schema"]).file:
        pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(settings["message"]))


def varint(number: int) -> bytes:
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])
