"""Nothing is imported before it is needed: what a command loads is what it uses."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

#: Every third-party package of the runtime dependencies and extras, as it is imported.
LIBRARIES = {
    "blosc", "brotli", "click", "cramjam", "lz4", "lzallright", "matplotlib", "msgpack", "msgspec",
    "numpy", "pcodec", "rich", "ujson", "xxhash", "zstandard",
}  # fmt: skip

#: What packing a small file raw with zstd does without. msgspec finds the records of JSON.
SPARED = LIBRARIES - {"click", "msgpack", "msgspec", "xxhash", "zstandard"}
#: Of Python's own what packing does without: they take a tenth of a short call to import.
HEAVY = {"pathlib", "urllib", "decimal", "fractions", "zoneinfo"}

#: Runs code, prints the top-level names of all loaded modules, and ours in full, as the last line.
_TELL = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ModuleNotFoundError("blocked by the test: " + name, name=name)
sys.meta_path.insert(0, Block())
try:
    {code}
except SystemExit as end:
    assert not end.code, end.code
print()
print(*sorted({{n if n.startswith("serialpack.") else n.partition(".")[0] for n in sys.modules}}))
"""

_MAIN = "from serialpack.cli import main; sys.argv = ['serialpack', *sys.argv[1:]]; main()"


def loaded(code: str, *args: str | Path, blocked: tuple[str, ...] = ()) -> tuple[str, set[str]]:
    """What ``code`` prints in a new Python, and the modules that it has loaded then."""
    done = subprocess.run(
        [sys.executable, "-c", _TELL.format(code=code, blocked=blocked), *map(str, args)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={k: v for k, v in os.environ.items() if not k.startswith(("SERIALPACK", "COV"))},
    )
    assert done.returncode == 0, done.stderr
    *printed, modules = done.stdout.splitlines()
    return "\n".join(printed).strip(), set(modules.split())


@pytest.mark.parametrize(
    ("code", "args"),
    [
        ("import serialpack", ()),
        ("import serialpack; serialpack.__all__, dir(serialpack)", ()),
        ("import serialpack; serialpack.SerialpackError", ()),
        (_MAIN, ("--version",)),
    ],
    ids=["import", "names", "errors", "version"],
)
def test_imports_no_library(code: str, args: tuple[str, ...]) -> None:
    """``import serialpack`` and ``--version`` load no library at all."""
    _, modules = loaded(code, *args)
    assert "serialpack" in modules
    assert not modules & LIBRARIES


def test_version_prints_the_version() -> None:
    import serialpack

    assert loaded(_MAIN, "--version")[0] == f"serialpack {serialpack.__version__}"


@pytest.mark.parametrize("blocked", [(), ("numpy", "pcodec")], ids=["", "without-numpy"])
@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("data.bin", bytes(range(256)) * 40),
        ("data.ndjson", b'{"a": 1}\n{"a": 2.5}\n' * 500),
        ("data.json", b'[{"a": 1}, {"a": [2, null]}]'),
        ("data.csv", b'a,b\r\n1,"x ""y"""\r\n' * 500),
    ],
    ids=["bytes", "ndjson", "json", "csv"],
)
def test_raw_zstd_loads_only_what_it_uses(
    tmp_path: Path, name: str, data: bytes, blocked: tuple[str, ...]
) -> None:
    """raw + zstd packs and unpacks a small file, and loads nothing that it does not use."""
    both = packing, _ = pack_and_unpack(tmp_path, name, data, blocked=blocked)
    assert name in ("data.json", "data.csv") or not packing & HEAVY  # these are read
    for modules in both:
        assert {"zstandard", "xxhash"} <= modules
        assert not modules & SPARED
        ours = {name for name in modules if name.startswith("serialpack.")}
        assert len(ours) > 50
        assert not {each for each in ours if each.startswith("serialpack.cli.options.foreign_")}
        assert not compiled_at_start(ours)


def compiled_at_start(modules: set[str]) -> list[str]:
    """Those that declare named tuples, and leave the types of the fields in quotes.

    ``NamedTuple`` compiles each of these anew at every start: half of what the class costs.
    """
    return sorted(
        name
        for name in modules
        if (spec := find_spec(name)) is not None and spec.origin is not None
        if re.search(r"^class .*\(NamedTuple", text := Path(spec.origin).read_text("utf-8"), re.M)
        if "\nfrom __future__ import annotations\n" in text
    )


def test_a_named_tuple_that_is_compiled_at_the_start_is_found() -> None:
    assert compiled_at_start({"tests.structure", "tests.test_imports"}) == ["tests.structure"]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("data.json", b"[" + b", ".join(b'{"n": %d, "s": "]\\""}' % n for n in range(3000)) + b"]"),
        ("map.json", b"{" + b",".join(b'"key %d": [{}, "}"]' % n for n in range(3000)) + b"}"),
        ("data.ndjson", b'{"a": 1}\n{"a": 2.5}\n' * 3000),
        ("data.csv", b'a,b\r\n1,"x ""y""\r\n"\r\n' * 3000),
    ],
    ids=["array", "object", "ndjson", "csv"],
)
def test_raw_zstd_needs_no_numpy(tmp_path: Path, name: str, data: bytes) -> None:
    """Many blocks, whose records must be found: NumPy may make that faster, it is not needed."""
    options = ("--block-size", "8K")
    for modules in pack_and_unpack(tmp_path, name, data, *options, blocked=("numpy", "pcodec")):
        assert not modules & {"numpy", "pcodec"}


@pytest.mark.parametrize(("to", "times"), [("json", 1), ("yaml", 1), ("msgpack", 50_000)])
def test_a_conversion_loads_no_numpy(tmp_path: Path, to: str, times: int) -> None:
    """Its import takes as long as the conversion of some megabytes; and nothing of databases."""
    source = tmp_path / "data.ndjson"
    source.write_bytes(b'{"a": 1}\n{"a": 2.5}\n' * times)
    _, modules = loaded(_MAIN, "unpack", "--to", to, source, "-o", tmp_path / "out")
    assert not modules & {"numpy", "pcodec", "sqlite3", "xml.parsers.expat"}


_ROWS = b'{"a": 1, "b": "x", "c": [1.5]}\n' * 50


def test_a_conversion_knows_nothing_of_formats_that_it_is_not_between(tmp_path: Path) -> None:
    """The names of XML are a pattern that takes 10 ms to compile, of the 140 of such a call."""
    source = tmp_path / "rows.ndjson"
    source.write_bytes(_ROWS)
    _, modules = loaded(_MAIN, "unpack", "--to", "csv", source, "-o", tmp_path / "out")
    assert "serialpack.formats.csv.write" in modules
    others = ("xml.write", "yaml", "cbor", "msgpack", "avro", "java", "sqlite", "tables.parquet")
    found = [f"serialpack.formats.{each}" for each in others]
    assert not [each for each in found if each in modules]


@pytest.mark.parametrize("to", ["parquet", "arrow"])
def test_a_table_is_written_without_pandas(tmp_path: Path, to: str) -> None:
    """pyarrow imports it, where it is installed, before its first array: half of such a call."""
    pytest.importorskip("pyarrow")
    if find_spec("pandas") is None:
        pytest.skip("pandas is not installed")
    source = tmp_path / "rows.ndjson"
    source.write_bytes(_ROWS)
    _, modules = loaded(_MAIN, "unpack", "--to", to, source, "-o", tmp_path / "out")
    assert "pyarrow" in modules
    assert "pandas" not in modules


@pytest.mark.parametrize("to", ["parquet", "sqlite"])
def test_cells_are_looked_at_without_pandas(tmp_path: Path, to: str) -> None:
    """pyarrow imports it, too, to know the type of a word that is compared with cells."""
    pytest.importorskip("pyarrow")
    if find_spec("pandas") is None:
        pytest.skip("pandas is not installed")
    source = tmp_path / "rows.csv"
    rows = (f'{n},{n}.25,-0.{n:05},"x ""{n}",true,2024-01-01 10:00:00,\n' for n in range(10_000))
    source.write_text("a,b,c,d,e,f,g\n" + "".join(rows))
    _, modules = loaded(_MAIN, "unpack", "--infer", "--to", to, source, "-o", tmp_path / "out")
    assert "pyarrow" in modules
    assert "pandas" not in modules


def test_the_library_leaves_pandas_to_others(tmp_path: Path) -> None:
    """What else is in the process makes arrays of pandas' objects, as ever."""
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    source = tmp_path / "rows.ndjson"
    source.write_bytes(_ROWS)
    code = (
        "import sys, serialpack; serialpack.convert(sys.argv[1], sys.argv[2], to='parquet');"
        "import pandas, pyarrow; print(pyarrow.array(pandas.Series([1.5, None])).null_count)"
    )
    assert loaded(code, source, tmp_path / "out")[0] == "1"
    assert pandas is not None


@pytest.mark.parametrize("name", ["frame.spk", "frame.pkl", "trusted.pkl"])
def test_a_table_of_a_frame_is_the_same_by_the_command(tmp_path: Path, name: str) -> None:
    """Beside rows that were written before it, without pandas. Who trusts by the environment lost
    the types of its columns."""
    pandas, parquet = pytest.importorskip("pandas"), pytest.importorskip("pyarrow.parquet")
    import serialpack

    frame = pandas.DataFrame(
        {
            "f": [1.5, float("nan"), None],
            "i": pandas.array([1, None, 3], "Int64"),
            "s": ["x", None, "z"],
            "c": pandas.Categorical(["u", "v", None]),
            "t": pandas.to_datetime(["2024-01-01", None, "2024-05-06"]),
        }
    )
    path, rows = tmp_path / name, tmp_path / "rows.ndjson"
    rows.write_bytes(_ROWS)
    if name.endswith("spk"):
        serialpack.dump(frame, path)
    else:
        frame.to_pickle(path)
    serialpack.convert(path, tmp_path / "wanted", to="parquet", trust=True)
    trust = ("--trust",) if name == "frame.pkl" else ()
    by_environment = 'import os; os.environ["SERIALPACK_UNPACK_TRUST"] = "1"; '
    main = by_environment + _MAIN if name == "trusted.pkl" else _MAIN
    loaded(main, "unpack", "--to", "parquet", *trust, rows, path, "-o", tmp_path / "out")
    found, wanted = (
        parquet.read_table(file)
        for file in (tmp_path / "out" / f"{path.stem}.parquet", tmp_path / "wanted")
    )
    assert repr(found.to_pylist()) == repr(wanted.to_pylist())  # NaN is not equal
    assert found.schema.equals(wanted.schema, check_metadata=True)


def pack_and_unpack(
    folder: Path, name: str, data: bytes, *options: str, blocked: tuple[str, ...]
) -> list[set[str]]:
    """The modules that the two commands load, once the very bytes have come back."""
    source, packed, restored = folder / name, folder / "packed.spk", folder / "restored"
    source.write_bytes(data)
    commands: list[tuple[str | Path, ...]] = [
        ("pack", "-s", "raw", "-c", "zstd", *options, source, "-o", packed),
        ("unpack", packed, "-o", restored),
    ]
    modules = [loaded(_MAIN, *command, blocked=blocked)[1] for command in commands]
    assert restored.read_bytes() == data
    return modules
