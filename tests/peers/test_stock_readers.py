"""Stock readers of zstd open what ``-s raw -c zstd`` writes, with no serialpack in sight."""

from __future__ import annotations

import importlib
import io
import re
import subprocess
import sys
import tarfile
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

import serialpack
from tests.peers.conftest import RAW_ZSTD, Sample, Tool, csv, ndjson, pack

pytestmark = pytest.mark.peers

README = Path(__file__).parents[2] / "README.md"


@pytest.mark.parametrize("name", ["zstd", "pzstd"])
def test_the_command_gives_the_bytes_from_a_file_and_from_a_pipe(
    tool: Tool, sample: Sample, name: str
) -> None:
    assert tool(name, "-dc", sample.packed).stdout == sample.data
    assert tool(name, "-dc", stdin=sample.packed.read_bytes()).stdout == sample.data


def test_zstdcat_gives_the_bytes_from_a_pipe(tool: Tool, sample: Sample) -> None:
    assert tool("zstdcat", stdin=sample.packed.read_bytes()).stdout == sample.data


def test_zstd_writes_the_very_file(tool: Tool, sample: Sample, tmp_path: Path) -> None:
    tool("zstd", "-d", sample.packed, "-o", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == sample.data


def test_zstd_finds_the_file_whole(tool: Tool, sample: Sample) -> None:
    tool("zstd", "-t", sample.packed)


@pytest.mark.parametrize("name", ["one byte", "blocks", "stored", "blocks and stored"])
def test_zstd_notices_one_flipped_bit_in_any_payload(
    tool: Tool, samples: dict[str, Sample], name: str, tmp_path: Path
) -> None:
    packed = samples[name].packed
    (member,) = serialpack.inspect(packed).members
    for number, block in enumerate(member.blocks):
        damaged = bytearray(packed.read_bytes())
        # A block ends with its payload, and that with data and zstd's own checksum of 4 bytes.
        damaged[block.end - 5] ^= 1 << number % 8
        (tmp_path / "damaged").write_bytes(damaged)
        assert tool("zstd", "-t", tmp_path / "damaged", code=None).returncode != 0, number


def test_zstd_decompresses_a_member_packed_through_a_pipe(tool: Tool, tmp_path: Path) -> None:
    data = Random(2).randbytes(200_000) + ndjson(5000)
    done = subprocess.run(
        [sys.executable, "-m", "serialpack", "pack", *RAW_ZSTD],
        input=data,
        capture_output=True,
        cwd=tmp_path,
        check=True,
    )
    assert tool("zstd", "-dc", stdin=done.stdout).stdout == data


def test_what_auto_writes_is_a_zstd_file_too(tool: Tool, tmp_path: Path) -> None:
    """Where it takes no records apart: at the fast efforts, and of anything else but at the last,
    which tries other codecs."""
    records = ndjson(3000)
    for effort, data in (("-1", records), ("-5", b"words " + records), ("-8", b"words " + records)):
        packed = pack(data, tmp_path, f"auto{effort}", effort)
        assert tool("zstd", "-dc", packed).stdout == data


OWN = [
    ("-c", "xz"),
    ("-c", "none"),
    ("--filter", "shuffle:4", "-c", "zstd"),
    ("-s", "msgpack", "-c", "zlib"),
]


@pytest.mark.parametrize("options", OWN, ids=" ".join)
def test_zstd_fails_loudly_on_the_own_envelope(
    tool: Tool, tmp_path: Path, options: tuple[str, ...]
) -> None:
    packed = pack(ndjson(100), tmp_path, "rows.ndjson", *options)
    for args, stdin in (
        (["-dc", packed], None),
        (["-dc"], packed.read_bytes()),
        (["-t", packed], None),
    ):
        done = tool("zstd", *args, stdin=stdin, code=None)
        assert done.returncode != 0
        assert done.stderr
        assert done.stdout == b""


@pytest.fixture
def packed_tar(tmp_path: Path) -> tuple[dict[str, bytes], Path]:
    """What a tar holds, and the tar packed."""
    held = {"rows.ndjson": ndjson(5000), "noise": Random(3).randbytes(150_000), "empty": b""}
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, data in held.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return held, pack(buffer.getvalue(), tmp_path, "held.tar", *RAW_ZSTD)


@pytest.mark.parametrize(
    ("name", "args"),
    [("tar", ["--zstd", "-xf"]), ("tar", ["-xf"]), ("bsdtar", ["-xf"])],
    ids=["tar --zstd -xf", "tar -xf", "bsdtar -xf"],
)
def test_a_packed_tar_is_opened_as_one(
    tool: Tool,
    tmp_path: Path,
    packed_tar: tuple[dict[str, bytes], Path],
    name: str,
    args: list[str],
) -> None:
    held, packed = packed_tar
    if name == "tar" and b"GNU tar" not in tool("tar", "--version").stdout:
        pytest.skip("tar is not GNU tar here")
    tool("zstd", "--version")  # tar calls it
    (tmp_path / "x").mkdir()
    tool(name, *args, packed, "-C", tmp_path / "x")
    assert {p.name: p.read_bytes() for p in (tmp_path / "x").iterdir()} == held


def test_bsdcat_gives_the_bytes(tool: Tool, samples: dict[str, Sample]) -> None:
    for name in "one byte", "blocks", "stored", "joined":
        assert tool("bsdcat", samples[name].packed).stdout == samples[name].data


def test_python_zstandard_reads_the_stream(sample: Sample) -> None:
    import zstandard

    with sample.packed.open("rb") as file:
        reader = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
        assert reader.read() == sample.data
    with sample.packed.open("rb") as file:
        reader = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
        pieces = b"".join(iter(lambda: reader.read(1000), b""))
    assert pieces == sample.data


def test_the_snippet_of_the_readme_reads_it(
    samples: dict[str, Sample], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    (snippet,) = [block for block in blocks if "import zstandard" in block]
    monkeypatch.chdir(tmp_path)
    for sample in samples.values():
        Path("data.json.spk").write_bytes(sample.packed.read_bytes())
        names: dict[str, Any] = {}
        exec(snippet, names)
        assert names["data"] == sample.data


def test_the_readme_is_right_that_the_plain_call_stops_at_the_empty_frame(
    samples: dict[str, Sample],
) -> None:
    import zstandard

    packed = samples["blocks"].packed.read_bytes()
    assert zstandard.ZstdDecompressor().decompress(packed) == b""


def test_python_compression_zstd_reads_it(sample: Sample) -> None:
    zstd = pytest.importorskip("compression.zstd", reason="comes with Python 3.14")
    assert zstd.decompress(sample.packed.read_bytes()) == sample.data
    with zstd.open(sample.packed) as file:
        assert file.read() == sample.data


def test_pyzstd_reads_it(sample: Sample) -> None:
    pyzstd = pytest.importorskip("pyzstd")
    assert pyzstd.decompress(sample.packed.read_bytes()) == sample.data
    with pyzstd.open(sample.packed) as file:
        assert file.read() == sample.data


def test_pyarrow_reads_the_stream(sample: Sample) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    with pyarrow.CompressedInputStream(pyarrow.OSFile(str(sample.packed)), "zstd") as stream:
        assert stream.read() == sample.data


ROWS = 5000
IDS = list(range(ROWS))
LAST = f"n{(ROWS - 1) ** 2}"


class Tables(NamedTuple):
    """The same rows as NDJSON and as CSV, packed in several blocks; names as readers want them."""

    ndjson: Path
    csv: Path


@pytest.fixture(scope="session")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    folder = tmp_path_factory.mktemp("tables")
    options = ("--block-size", "16K")
    made = [
        pack(data, folder, name, *RAW_ZSTD, *options).rename(folder / f"{name}.zst")
        for name, data in (("rows.ndjson", ndjson(ROWS)), ("rows.csv", csv(ROWS)))
    ]
    for path in made:
        assert len(serialpack.inspect(path).members[0].blocks) > 3
    return Tables(*made)


def library(name: str) -> Any:
    """The library, or the test is skipped. Not importorskip: what it warns of is not our doing."""
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"no {name} here")
    return importlib.import_module(name)


@pytest.mark.filterwarnings("default")
def test_pandas_reads_the_tables(tables: Tables) -> None:
    pandas = library("pandas")
    rows = pandas.read_json(tables.ndjson, lines=True, compression="zstd")
    assert list(rows.id) == IDS
    assert rows.name.iloc[-1] == LAST
    rows = pandas.read_csv(tables.csv, compression="zstd")
    assert list(rows.id) == IDS
    assert rows.name.iloc[-1] == LAST


@pytest.mark.filterwarnings("default")
def test_polars_reads_and_scans_the_tables(tables: Tables) -> None:
    polars = library("polars")
    for rows in (
        polars.read_ndjson(tables.ndjson),
        polars.scan_ndjson(tables.ndjson).collect(),
        polars.read_csv(tables.csv),
        polars.scan_csv(tables.csv).collect(),
    ):
        assert rows["id"].to_list() == IDS
        assert rows["name"][-1] == LAST


@pytest.mark.filterwarnings("default")
def test_duckdb_reads_the_tables(tables: Tables) -> None:
    duckdb = library("duckdb")
    with duckdb.connect() as database:
        for call in (
            f"read_json('{tables.ndjson}', compression='zstd', format='newline_delimited')",
            f"read_csv('{tables.csv}', compression='zstd')",
        ):
            try:
                rows = database.sql(f"select id, name from {call} order by id").fetchall()
            except duckdb.Error as error:
                if "extension" in str(error):
                    pytest.skip(f"this DuckDB wants an extension: {error}")
                raise
            assert [row[0] for row in rows] == IDS
            assert rows[-1][1] == LAST


@pytest.mark.filterwarnings("default")
def test_pyarrow_reads_the_tables(tables: Tables) -> None:
    library("pyarrow")
    from_json, from_csv = library("pyarrow.json"), library("pyarrow.csv")
    pyarrow = library("pyarrow")
    for module, read, path in (
        (from_json, "read_json", tables.ndjson),
        (from_csv, "read_csv", tables.csv),
    ):
        with pyarrow.CompressedInputStream(pyarrow.OSFile(str(path)), "zstd") as stream:
            rows = getattr(module, read)(stream)
        assert rows["id"].to_pylist() == IDS
        assert rows["name"][-1].as_py() == LAST
