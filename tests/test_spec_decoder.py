"""The specification alone is enough: a decoder written from it agrees with every file we keep."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from xxhash import xxh3_64_intdigest

from serialpack import inspect
from tests import bad, golden
from tests.golden.make import listed, sources
from tests.manifest import rows_of
from tests.spec_decoder import DICTIONARIES, SpecError, Unsupported, decode, read_objects

DECODER = Path(__file__).with_name("spec_decoder.py")
OTHER_FILES = "spec_rules.py", "spec_rows.py"
HERE = DECODER.parents[1]
GOLDEN = Path(golden.__path__[0])
BAD = Path(bad.__path__[0])
LISTED = listed()
RULES = [*rows_of(BAD / "MANIFEST.tsv").values()]
for _path in (GOLDEN / "kinds.dict", BAD / "kinds.dict"):
    DICTIONARIES[xxh3_64_intdigest(_path.read_bytes())] = _path.read_bytes()
#: How the text of a SpecError begins, for each error of the manifest.
WAYS = {
    "DamagedError": "damaged: ",
    "NotContainerError": "not a container: ",
    "TruncatedError": "truncated: ",
    "UnsupportedError": "unsupported: ",
}
#: Bad files that the decoder takes, each with the reason: the rule is about what it does not undo.
EXCEPTIONS: dict[str, str] = {}


def _smallest() -> list[str]:
    """For each envelope the smallest golden file, and the smallest one that holds anything."""
    names = sorted(LISTED, key=lambda name: (GOLDEN / name).stat().st_size)
    chosen = []
    for start in (b"\x89SPK", b"\x28\xb5\x2f\xfd"):
        mine = [name for name in names if (GOLDEN / name).read_bytes().startswith(start)]
        chosen += [mine[0], next(name for name in mine if LISTED[name][2] != "empty")]
    return chosen


def test_the_decoder_knows_nothing_of_serialpack() -> None:
    texts = [DECODER.with_name(name).read_text("utf-8") for name in (DECODER.name, *OTHER_FILES)]
    assert sum(len(text.splitlines()) for text in texts) <= 600
    imported = set()
    for node in (node for text in texts for node in ast.walk(ast.parse(text))):
        if isinstance(node, ast.Import):
            imported |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            imported.add(str(node.module))
    imported -= {"tests.spec_rules", "tests.spec_rows"}
    assert {name.partition(".")[0] for name in imported} <= {
        *("bz2", "lzma", "pathlib", "struct", "sys", "typing", "zlib"),
        *("msgpack", "xxhash", "zstandard"),
    }


@pytest.mark.parametrize("name", LISTED)
def test_a_golden_file_verifies(name: str) -> None:
    """What has serializer raw, no filter and a codec of the standard library or zstd restores."""
    members = decode((GOLDEN / name).read_bytes())
    if name.startswith("shared-"):
        return
    for member, source in zip(members, LISTED[name][2].split(","), strict=True):
        serializer, *filters, codec = [
            stage[0] if isinstance(stage, list) else stage for stage in member.header["c"]
        ]
        if serializer == 32 and not filters and codec <= 4:
            assert member.content is not None
        if member.content is not None:
            assert member.content == sources()[source][1]
        assert ("e" in member.header) == name.startswith("archive-")


def test_many_golden_files_were_restored() -> None:
    members = [decode((GOLDEN / name).read_bytes())[0] for name in LISTED]
    assert sum(member.content is not None for member in members) >= 20


@pytest.mark.parametrize(
    ("name", "error"), [(rule[0], rule[2]) for rule in RULES if rule[0] not in EXCEPTIONS]
)
def test_a_bad_file_is_refused_in_the_way_of_its_rule(name: str, error: str) -> None:
    with pytest.raises(SpecError) as refused:
        decode((BAD / name).read_bytes())
    assert str(refused.value).startswith(WAYS[error])
    assert isinstance(refused.value, Unsupported) == (error == "UnsupportedError")
    assert isinstance(refused.value, Unsupported) or not name.startswith("unsupported-")


def test_each_exception_is_one() -> None:
    assert set(EXCEPTIONS) <= {rule[0] for rule in RULES}
    for name in EXCEPTIONS:
        decode((BAD / name).read_bytes())


@pytest.mark.parametrize("name", _smallest())
def test_every_flipped_bit_is_found(name: str) -> None:
    whole = (GOLDEN / name).read_bytes()
    for bit in range(8 * len(whole)):
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        with pytest.raises(SpecError):
            decode(bytes(flipped))


@pytest.mark.parametrize("name", _smallest())
def test_every_truncation_is_found_and_called_so(name: str) -> None:
    whole = (GOLDEN / name).read_bytes()
    start = 8 if whole.startswith(b"\x89") else 9
    for size in range(len(whole)):
        with pytest.raises(
            SpecError, match=r"^truncated" if size >= start else r"^not a container"
        ):
            decode(whole[:size])


def test_members_stand_one_after_another() -> None:
    names = ["blocks-csv.spk", "empty-xz.spk", "meta.spk", "raw+zlib.spk"]
    members = decode(b"".join((GOLDEN / name).read_bytes() for name in names))
    expected = [sources()[LISTED[name][2]][1] for name in names]
    assert [member.content for member in members] == expected
    assert len(members[0].blocks) > 1


def test_the_library_for_messagepack_refuses_what_the_decoder_leaves_to_it() -> None:
    """Depth, UTF-8, types of keys and what is cut off: a later version of it must do so too."""
    read_objects(b"\x91" * 1024 + b"\xc0")
    read_objects(b"\x81\xc4\x01k\x81\xa1k\x90")
    for body in (
        *(b"\x91" * 1025 + b"\xc0", b"\x81\xa1k" * 1025 + b"\xc0"),
        *(b"\xa1\xff", b"\x81\x01\x02", b"\x81\xc0\x02", b"\x92\x01", b"\x01\xc1", b"\xd9"),
        *(b"\xd6\xff\0\0\0\0", b"\x91\xd4\x05a", b"\x81\xa1k\xc7\0\x01", b"\xdd\xff\xff\xff\xff"),
    ):
        with pytest.raises(SpecError, match=r"^damaged"):
            read_objects(body)


def test_the_examples_of_the_page_restore() -> None:
    page = (HERE / "man/spk.5").read_text(encoding="utf-8")
    files: list[bytes] = []
    for offset, text in re.findall(r"(?m)^ +(\d+)  ((?:[0-9A-F]{2} ?)+)(?: |$)", page):
        files += [b""] if offset == "0" else []
        assert len(files[-1]) == int(offset)
        files[-1] += bytes.fromhex(text)
    assert [decode(data)[0].content for data in files] == [b"Hello, world!\n"] * 3


def test_it_runs_alone() -> None:
    run: list[str | Path] = [sys.executable, "-m", "tests.spec_decoder"]
    done = subprocess.run([*run, GOLDEN / "raw+bz2.spk"], capture_output=True, check=True, cwd=HERE)
    assert done.stdout == sources()["ndjson"][1]
    other = subprocess.run(
        [*run, GOLDEN / "raw+lz4.spk"], capture_output=True, check=False, cwd=HERE
    )
    assert other.returncode == 1
    assert b"verified" in other.stderr


@pytest.mark.parametrize("name", [name for name in LISTED if name.startswith("shared-")])
def test_entries_are_what_the_reader_says(name: str) -> None:
    """Those that share blocks, and folders and links."""
    members = decode((GOLDEN / name).read_bytes())
    said = [entry for m in members for block in m.blocks for entry in block.entries or []]
    listed = [e for m in inspect(GOLDEN / name).members if not m.entry for e in m.entries or ()]
    assert len(said) == len(listed) > 2
    for entry, (path, mode, _, size, owner, target) in zip(listed, said, strict=True):
        assert (entry.path, entry.size, entry.mode) == (path.decode(), size, f"{mode & 4095:04o}")
        assert (entry.target or "").encode() == (target or b"")
        assert list(entry.owner or ()) == owner
