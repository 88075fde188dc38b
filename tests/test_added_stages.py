"""A codec, a filter and a serializer are added, each in one file and one line, and all finds them:
what CONTRIBUTING promises. For a format see ``formats/test_added_format.py``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.added import House, copied

REGISTRY = "serialpack/stages/registry.py"
TEXT = b"".join(b'{"id":%d,"name":"n%d"}\n' % (n, n * 7919 % 97) for n in range(300))


class Added(NamedTuple):
    """What is added: its file, its line, and where a chain has it."""

    kind: str
    name: str
    text: str
    line: str
    head: str
    chain: tuple[str, ...]
    suites: tuple[str, ...]


CODEC = Added(
    "codec",
    "hexes",
    '''"""hexes: two digits for each byte."""

from __future__ import annotations

from binascii import hexlify, unhexlify

from serialpack.codecs.base import Codec
from serialpack.errors import CodecError
from serialpack.stages.stage import Buffer


class Hexes(Codec):
    """Data format: hexadecimal digits (RFC 4648, section 8, in lower case)."""

    about = "two digits for each byte"
    bound = "A byte is made of two, so the length of the stored bytes says the size."

    def _compress(self, data: Buffer) -> bytes:
        return hexlify(data)

    def _decompress(self, stored: Buffer, size: int) -> bytes:
        if len(stored) != 2 * size:
            raise CodecError(f"does not restore to the {size} bytes promised")
        try:
            return unhexlify(stored)
        except ValueError as error:
            raise CodecError(str(error)) from None
''',
    'Entry("hexes", 31, "serialpack.codecs.hexes:Hexes")',
    '    "codec",',
    ("-s", "raw", "-c", "hexes"),
    ("tests/codecs/test_every_codec.py",),
)

FILTER = Added(
    "filter",
    "flip",
    '''"""flip: all bits the other way round."""

from __future__ import annotations

from serialpack.filters.base import Filter
from serialpack.stages.stage import Buffer

_FLIPPED = bytes(range(255, -1, -1))


class Flip(Filter):
    """Byte layout: each byte is 255 less what it was."""

    about = "all bits the other way round"

    def _forward(self, data: Buffer) -> bytes:
        return bytes(data).translate(_FLIPPED)

    def _backward(self, data: Buffer) -> bytes:
        return bytes(data).translate(_FLIPPED)
''',
    'Entry("flip", 95, "serialpack.filters.flip:Flip")',
    '    "filter",',
    ("-s", "raw", "--filter", "flip", "-c", "zstd"),
    ("tests/filters/test_every_filter.py",),
)

SERIALIZER = Added(
    "serializer",
    "literals",
    r'''"""literals: records as lines of JSON in ASCII."""

from __future__ import annotations

import json
from typing import Any

from serialpack.depth import check_json
from serialpack.serializers.base import RecordSerializer
from serialpack.stages.stage import Buffer
from serialpack.values.kinds import BEYOND_JSON, TEXT_KINDS


class LiteralsSerializer(RecordSerializer):
    """Data format: JSON in ASCII, a record a line."""

    about = "JSON in ASCII, by the standard library"
    stored_format = "literals"
    text = True
    cannot = BEYOND_JSON | TEXT_KINDS | {"huge-integer", "integer-key", "key", "depth"}

    def _check_depth(self, data: Buffer) -> None:
        check_json(bytes(data))

    def _dump(self, records: list[Any]) -> bytes:
        lines = (json.dumps(record, allow_nan=False).encode() for record in records)
        return b"".join(line + b"\n" for line in lines)

    def _load(self, data: Buffer) -> list[Any]:
        return [json.loads(line) for line in bytes(data).split(b"\n")[:-1]]
''',
    'Entry("literals", 63, "serialpack.serializers.literals:LiteralsSerializer")',
    '    "serializer",',
    ("-s", "literals", "-c", "none"),
    ("tests/depth/test_every_serializer.py", "tests/serializers/test_treacherous.py"),
)

ADDED = [CODEC, FILTER, SERIALIZER]
EACH = pytest.mark.parametrize("added", ADDED, ids=lambda added: added.kind)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> House:
    house = copied(tmp_path_factory.mktemp("house"))
    for added in ADDED:
        file = f"serialpack/{added.kind}s/{added.name}.py"
        house.add(file, added.text, REGISTRY, added.head, added.line)
    house.generate()
    return house


@EACH
def test_it_packs_and_gives_back(house: House, tmp_path: Path, added: Added) -> None:
    (tmp_path / "a.ndjson").write_bytes(TEXT)
    house.done("pack", *added.chain, "a.ndjson", cwd=tmp_path)
    told = json.loads(house.done("inspect", "--json", "a.ndjson.spk", cwd=tmp_path))
    assert added.name in json.dumps(told)
    assert house.done("unpack", "a.ndjson.spk", "-o", "-", cwd=tmp_path) == TEXT


@EACH
def test_what_is_generated_offers_it(house: House, tmp_path: Path, added: Added) -> None:
    assert added.name in house.done("inspect", "--stages", cwd=tmp_path).decode()
    for made in ("completions/serialpack.bash", "man/serialpack-pack.1"):
        assert added.name in house.text(made)


@EACH
def test_the_shared_suites_try_it(house: House, added: Added) -> None:
    assert house.shared_tests_pass(added.name, *added.suites)
