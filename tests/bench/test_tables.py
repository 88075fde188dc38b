"""The tables that samples stand for: what is measured of them where nothing is named."""

from __future__ import annotations

from typing import Any

import pytest

from serialpack.bench.results import Results
from serialpack.bench.run import Bench, Question
from serialpack.bench.samples import SAMPLES, Sample
from serialpack.codecs import CODECS
from serialpack.filters import FILTERS
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.rapidjson import RapidJsonSerializer
from serialpack.stages.chain import parse_chain, parse_stage
from serialpack.stages.stage import Registry
from tests.bench.found import PLENTY

BLOSC = ["uuid4", "contacts"]


def table(source: str, **question: object) -> Results:
    """A real run, in a process of its own."""
    return Bench(Question(source, is_sample=True, **question)).run()  # type: ignore[arg-type]


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=lambda sample: sample.name)
def test_table_names_stages_that_exist(sample: Sample) -> None:
    made = sample.table
    assert made.serializers
    stages: list[tuple[Registry[Any], str]]
    stages = [(SERIALIZERS, each) for each in made.serializers]
    stages += [(CODECS, each) for each in made.codecs]
    stages += [(FILTERS, each) for text in made.filters for each in text.split("+") if each]
    for registry, text in stages:
        parse_stage(registry, text)
    if sample.mode == "file":
        assert made.serializers[0] == "raw"


@pytest.mark.parametrize("name", BLOSC)
def test_blosc_tables(name: str) -> None:
    """All of the field's combinations; those that there was no time for are rows too."""
    found = table(f"{name}:60", budget=PLENTY)
    chains = {row.chain for row in found.rows}
    serializers = ["pickle:5", "marshal:4", "json", "ujson", "msgpack"]
    if RapidJsonSerializer.missing("rapidjson") is None:
        serializers.append("rapidjson")
    filters = ["", "shuffle:8+", "bitshuffle:8+"]
    settings = [f"@{block}/{n}" for block in ("64K", "256K", "1M") for n in (1, 2, 4)]
    codecs = [f"blosc-{codec}{each}" for codec in ("lz4:9", "zstd:1") for each in settings]
    assert chains == {
        f"{s}+{tail}"
        for s in serializers
        for tail in ["none", *(f + c for f in filters for c in codecs)]
    }
    assert len(found.rows) == len(chains)
    # How many there is time for is the machine's.
    assert {"measured"} <= {row.status for row in found.rows} <= {"measured", "skipped"}
    measured = {row.chain for row in found.rows if row.status == "measured"}
    # Each serializer had its share of the time.
    assert measured >= {f"{s}+none" for s in serializers}
    assert {row.threads for row in found.rows} == {1}
    assert any(parse_chain(chain).filters for chain in measured)


def test_documents() -> None:
    """Ten runs each, with the means beside the fastest."""
    found = table("documents:40", budget=PLENTY)
    assert {row.serializer.partition(":")[0] for row in found.rows} == {
        *("pickle", "marshal", "json", "simplejson", "ujson", "umsgpack", "msgpack", "yaml")
    }
    for row in found.rows:
        assert (row.status, row.codec, row.runs) == ("measured", "none", 10)
        assert row.means is not None
        assert row.pack_mean is not None
        assert row.pack_seconds is not None
        assert row.pack_seconds <= row.pack_mean
        # Steps are those of the run that is fastest in all: together no more than their means.
        for together in (("serialize", "prove"), ("deserialize",)):
            fastest = sum(row.seconds[step] for step in together)
            assert 0 < fastest <= sum(row.means[step] for step in together) * (1 + 1e-9)
    assert found.notes == []


def test_a_budget_that_is_short() -> None:
    """What there was time for, and rows that say that there was none."""
    found = table("documents:4000", budget=0.05)
    status = [row.status for row in found.rows]
    assert len(status) == 8
    assert "skipped" in status
    assert all(row.why for row in found.rows if row.status != "measured")


def test_the_user_names_others() -> None:
    """Each of the lists by itself."""
    named = table("uuid4:50", serializers=["cbor"], codecs=["zlib:1"], filters=["delta:4"])
    assert [row.chain for row in named.rows] == ["cbor:0+delta:4+zlib:1"]
    codecs = table("contacts:20", codecs=["zlib:1", "none"], budget=PLENTY)
    tails = {"zlib:1", "shuffle:8+zlib:1", "bitshuffle:8+zlib:1", "none"}
    assert {row.chain.partition("+")[2] for row in codecs.rows} == tails
    serializers = table("documents:20", serializers=["json", "bson"])
    assert {row.chain for row in serializers.rows} == {"json+none", "bson+none"}


def test_what_is_not_installed_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RapidJsonSerializer, "missing", lambda _: "pip install it")
    found = table("uuid4:10", budget=0)
    assert "rapidjson" not in {row.serializer for row in found.rows}
    assert "not installed: rapidjson" in found.notes


def test_field3d_with_its_filters() -> None:
    found = table("field3d:8", codecs=["zlib:1"], budget=PLENTY)
    filters = ["", "shuffle:4+", "bitshuffle:4+", "delta:4+", "delta:4+shuffle:4+"]
    assert {row.chain for row in found.rows if row.size} >= {f"raw+{f}zlib:1" for f in filters}


@pytest.mark.parametrize("name", ["dna", "protein", "random"])
def test_codecs_on_bytes(name: str) -> None:
    found = table(f"{name}:2000", budget=PLENTY)
    exact = {"raw"} if name == "random" else {"raw", "columns:3"}
    assert {row.serializer for row in found.rows} == exact
    assert {row.codec for row in found.rows} >= {"none", "zstd:3", "xz:6"}
    assert any(row.auto for row in found.rows)
