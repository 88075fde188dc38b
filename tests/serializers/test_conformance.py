"""JSONTestSuite and real files through every value serializer."""

from __future__ import annotations

from pathlib import Path

import pytest

from serialpack.errors import SyntaxInputError, ValueRefusedError
from serialpack.formats import FORMATS
from serialpack.values.kinds import NEVER
from tests.serializers.chains import VALUE_SERIALIZERS, round_trip, strict_values, takes


@pytest.mark.parametrize("serializer", VALUE_SERIALIZERS)
def test_json_test_suite(shared_data: Path, serializer: str) -> None:
    files = sorted((shared_data / "conformance" / "JSONTestSuite" / "test_parsing").glob("*.json"))
    assert files
    kept = whole = 0
    for path in files:
        source = path.read_bytes()
        maps_only = not takes(serializer, "bare") and not source.lstrip().startswith(b"{")
        whole += path.name.startswith("y_") and not maps_only
        try:
            restored, _ = round_trip(serializer, "json", source)
        except SyntaxInputError:
            assert not path.name.startswith("y_"), path.name
            continue
        except ValueRefusedError as refused:
            assert not path.name.startswith("n_"), path.name
            declared = refused.kind not in NEVER and not takes(serializer, refused.kind)
            whole -= path.name.startswith("y_") and not maps_only and declared
            continue
        assert not path.name.startswith("n_"), path.name
        assert strict_values("json", restored) == strict_values("json", source), path.name
        kept += path.name.startswith("y_")
    assert kept >= max(whole - 1, 1)  # all but the one with a key twice


_LARGE = 640 << 10


@pytest.mark.parametrize("serializer", VALUE_SERIALIZERS)
@pytest.mark.parametrize("folder", ["json", "ndjson", "conformance/json-checker"])
def test_real_files(shared_data: Path, serializer: str, folder: str) -> None:
    for path in sorted((shared_data / folder).iterdir()):
        entry = FORMATS.by_extension(path.name)
        assert entry is not None
        source = path.read_bytes()
        if len(source) > _LARGE and serializer not in ("json", "msgpack"):
            continue  # of what is in them, smaller ones have as much
        try:
            restored, exact = round_trip(serializer, entry.name, source, 1 << 16)
        except ValueRefusedError:
            continue
        except SyntaxInputError:
            assert path.name.startswith("fail")
            continue
        assert not path.name.startswith("fail")
        assert exact or strict_values(entry.name, restored) == strict_values(entry.name, source)
