"""The public conformance suites: what each serializer makes of every file in them."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import serialpack
from serialpack.errors import InputError, RefusedError
from serialpack.formats import FORMATS
from serialpack.formats.base import SourceBlock, ValueFormat


class Sample(NamedTuple):
    """One file of a suite. ``valid``: the suite wants it accepted; None: either will do."""

    name: str
    format: str
    data: bytes
    valid: bool | None


def _json_test_suite(root: Path) -> Iterator[Sample]:
    wants = {"y": True, "n": False, "i": None}
    for path in sorted((root / "conformance/JSONTestSuite/test_parsing").glob("*.json")):
        yield Sample(path.name, "json", path.read_bytes(), wants[path.name[0]])


def _yaml(root: Path) -> Iterator[Sample]:
    for path in sorted((root / "conformance/yaml-test-suite").rglob("in.yaml")):
        name = str(path.parent.relative_to(root / "conformance/yaml-test-suite"))
        yield Sample(name, "yaml", path.read_bytes(), not path.with_name("error").exists())


def _toml(root: Path) -> Iterator[Sample]:
    folder = root / "conformance/toml-test"
    for name in (folder / "files-toml-1.0.0").read_text().split():
        if name.endswith(".toml"):
            path = folder / name
            yield Sample(name, "toml", path.read_bytes(), name.startswith("valid/"))


def _cbor(root: Path) -> Iterator[Sample]:
    # A line a vector; "hex" is the item, whatever else is said of it.
    path = root / "conformance/cbor/appendix_a.part.json"
    for vector in json.loads(path.read_text()):
        yield Sample(vector["hex"], "cbor", bytes.fromhex(vector["hex"]), True)


def _csv(root: Path) -> Iterator[Sample]:
    for path in sorted((root / "conformance/csv-spectrum/csvs").glob("*.csv")):
        yield Sample(path.name, "csv", path.read_bytes(), True)


def _avro(root: Path) -> Iterator[Sample]:
    for path in sorted((root / "avro").glob("*.avro")):
        yield Sample(path.name, "avro", path.read_bytes(), True)


def _java(root: Path) -> Iterator[Sample]:
    for path in sorted((root / "java-ser").glob("*.ser")):
        yield Sample(path.name, "java", path.read_bytes(), True)


#: Name of the suite -> its samples in the folder of shared data.
SUITES = {
    "JSONTestSuite": _json_test_suite,
    "YAML test suite": _yaml,
    "toml-test 1.0.0": _toml,
    "CBOR vectors (RFC 8949, appendix A)": _cbor,
    "csv-spectrum": _csv,
    "Avro samples": _avro,
    "Java samples": _java,
}


def outcome(sample: Sample, serializer: str) -> str:
    """``exact``, ``same`` (values), ``refused``, ``invalid`` (called so), or ``changed``."""
    packed, unpacked = io.BytesIO(), io.BytesIO()
    try:
        report = serialpack.pack(
            io.BytesIO(sample.data), packed, serializer=serializer, format=sample.format, threads=1
        )
    except RefusedError:
        return "refused"
    except InputError:
        return "invalid"
    packed.seek(0)
    serialpack.unpack(packed, unpacked, threads=1, trust=True)
    if unpacked.getvalue() == sample.data:
        return "exact"
    fmt = FORMATS.get(sample.format)
    assert isinstance(fmt, ValueFormat)
    block = SourceBlock(sample.data, 0, 0, last=True, line=0)
    if report.exact or fmt.difference(block, unpacked.getvalue()) is not None:
        return "changed"
    return "same"


def counted(samples: list[Sample], serializer: str) -> Counter[tuple[bool | None, str]]:
    """How many valid and invalid samples had each outcome."""
    return Counter((sample.valid, outcome(sample, serializer)) for sample in samples)
