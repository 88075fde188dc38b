"""A dictionary that small files share: trained, found again, and missed by its name and hash."""

from __future__ import annotations

import io
import json
import random
import shutil
import subprocess
from pathlib import Path

import pytest

import serialpack
from serialpack.units import format_size
from tests.cli.conftest import Run
from tests.cli.told import needs_posix
from tests.container.mutants import mutants
from tests.docs.test_schemas import check
from tests.injected import injected


def record(number: int) -> bytes:
    """One of many files alike, of some 350 bytes."""
    draw = random.Random(number)
    return json.dumps(
        {
            "id": number,
            "owner": {"name": f"user {draw.randrange(10**6)}", "email": f"u{number}@example.org"},
            "address": {"street": "Bahnhofstrasse", "number": draw.randrange(99), "city": "Bern"},
            "tags": draw.sample(["alpha", "beta", "gamma", "delta"], 2),
            "created": f"2024-{draw.randrange(1, 13):02}-{draw.randrange(1, 29):02}T00:00:00Z",
            "active": draw.random() < 0.5,
            "settings": {"language": "de-CH", "notifications": True, "theme": "dark"},
        },
        indent=1,
    ).encode()


@pytest.fixture
def kinds(tmp_path: Path) -> Path:
    """A folder ``in`` of 60 files, some of them in a folder below."""
    for number in range(60):
        path = tmp_path / "in" / ("sub" if number % 2 else ".") / f"{number}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(record(number))
    return tmp_path


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*.spk"))


def test_it_is_trained_once_then_used_and_found_again(run: Run, kinds: Path) -> None:
    """In a folder above the containers, too; what was packed is half as large, and comes back."""
    shared = kinds / "out/kinds.dict"
    first = run("pack", "--json", "-r", "in", "-o", "out", "--shared-dict", shared)
    said = first.stderr.decode()
    assert "kinds.dict: trained from 60 files, " in said
    lines = [json.loads(line) for line in first.stdout.splitlines()]
    check("pack", lines[0])
    assert lines[0]["dictionary"].startswith("kinds.dict (")
    trained = shared.read_bytes()
    run("pack", "-r", "in", "-o", "plain")
    assert 2 * size_of(kinds / "out") <= size_of(kinds / "plain")
    assert {line["chain"] for line in lines} == {"raw+zstd:12"}, "that of the small files of -3"

    (kinds / "in/new.json").write_bytes(record(1000))
    later = run("pack", "-r", "in", "-o", "out", "--skip-existing", "--shared-dict", shared)
    assert "trained from" not in later.stderr.decode()
    assert shared.read_bytes() == trained
    assert (kinds / "out/new.json.spk").stat().st_size < 250

    run("unpack", "-r", "out", "-o", "back")
    for path in (kinds / "in").rglob("*.json"):
        assert (kinds / "back" / path.relative_to(kinds / "in")).read_bytes() == path.read_bytes()


def test_it_is_no_input_where_it_is_in_the_folder(run: Run, kinds: Path) -> None:
    for _ in range(2):
        run("pack", "-f", "-r", "in", "-o", "out", "--shared-dict", "in/kinds.dict")
    assert not (kinds / "out/kinds.dict.spk").exists()
    assert len(list((kinds / "out").rglob("*.spk"))) == 60


def test_the_level_of_zstd_may_be_its_default(run: Run, kinds: Path) -> None:
    """0, which says that, was called a dictionary that is not sound, also of what others pack."""
    run("pack", "-r", "in", "-c", "zstd:0", "-o", "out", "--shared-dict", "out/kinds.dict")
    run("unpack", "-r", "out", "-o", "back")
    assert (kinds / "back/0.json").read_bytes() == record(0)
    said = run("inspect", "--json", "out/0.json.spk").stdout
    assert json.loads(said)["members"][0]["dictionary"]["found"]


def test_which_one_is_missing_is_said(run: Run, kinds: Path, tmp_path: Path) -> None:
    """And then it is given, or in the folder of the configuration; another one is never used."""
    run("pack", "in/2.json", "in/4.json", *(f"in/sub/{n}.json" for n in range(1, 60, 2)),
        "-o", "out/", "--shared-dict", "out/kinds.dict")  # fmt: skip
    alone = tmp_path / "alone/2.json.spk"
    alone.parent.mkdir()
    shutil.move(kinds / "out/2.json.spk", alone)
    found = json.loads(run("inspect", "--json", alone).stdout)
    check("inspect", found)
    (member,) = found["members"]
    assert member["dictionary"]["found"] is False
    wanted = f"kinds.dict ({member['dictionary']['hash']})"
    assert f"dictionary  {wanted}, not found" in run("inspect", alone).stdout.decode()

    for asked in (["unpack"], ["unpack", "--test"], ["unpack", "--to", "yaml"], ["inspect", "--head", "1"]):  # noqa: E501 # fmt: skip
        said = run(*asked, alone, code=1).stderr.decode()
        assert f"needs the dictionary {wanted}, which is neither beside it" in said
        assert "--shared-dict PATH names it" in said
        assert list(alone.parent.iterdir()) == [alone]

    other = alone.parent / "kinds.dict"
    shutil.copy(kinds / "out/kinds.dict", other)
    data = bytearray(other.read_bytes())
    data[-5] ^= 1  # a damaged one
    other.write_bytes(data)
    assert f": {other} is another one, or damaged" in run("unpack", alone, code=1).stderr.decode()
    renamed = kinds / "named.dict"
    shutil.move(other, renamed)
    for asked in (["unpack"], ["unpack", "--test"], ["unpack", "--to", "yaml"], ["inspect", "--head", "1"]):  # noqa: E501 # fmt: skip
        said = run(*asked, "--shared-dict", renamed, alone, code=1).stderr.decode()
        assert f"needs the dictionary {wanted}: {renamed} is another one, or damaged: " in said
        assert f"; name the one of the hash {member['dictionary']['hash']}, or put it " in said
    said = run("inspect", "--shared-dict", renamed, alone).stdout.decode()
    assert f"{wanted}, not found here; {renamed} is another one" in said

    run("unpack", "--test", alone, "--shared-dict", "out/kinds.dict")
    run("unpack", alone, "--to", "yaml", "-o", "-", "--shared-dict", "out/kinds.dict")
    run("unpack", alone, "-o", "sqlite-kv://s.db", "--shared-dict", "out/kinds.dict")
    run("inspect", "--head", "1", alone, "--shared-dict", "out/kinds.dict")
    home = tmp_path / "conf"
    (home / "serialpack").mkdir(parents=True)
    shutil.copy(kinds / "out/kinds.dict", home / "serialpack")
    run("unpack", alone, env={"XDG_CONFIG_HOME": str(home)})
    assert (alone.parent / "2.json").read_bytes() == record(2)


def test_a_renamed_one_is_found_by_its_hash(run: Run, kinds: Path) -> None:
    """Beside the container and in the folder of the configuration; among others, and by no other
    ending than .dict."""
    run("pack", "-r", "in", "-o", "out", "--shared-dict", "out/kinds.dict")
    home = kinds / "conf/serialpack"
    home.mkdir(parents=True)
    beside, at_home = kinds / "out/2024.dict", home / "users.dict"
    trained = (kinds / "out/kinds.dict").rename(beside).read_bytes()
    (kinds / "out/a.dict").write_bytes(b"words")
    (kinds / "out/b.dict").write_bytes(trained[:-5] + b"other")
    (kinds / "out/c.dict").mkdir()
    run("unpack", "out/2.json.spk", "-o", "2.json")
    assert (kinds / "2.json").read_bytes() == record(2)

    beside.rename(kinds / "out/kinds.zdict")
    assert "needs the dictionary" in run("unpack", "--test", "out/2.json.spk", code=1).stderr.decode()  # noqa: E501 # fmt: skip
    (kinds / "out/kinds.zdict").rename(at_home)
    run("unpack", "--test", "out/2.json.spk", env={"XDG_CONFIG_HOME": str(home.parent)})


def test_where_it_does_not_pay_files_are_packed_without(run: Run, kinds: Path) -> None:
    """Naming it counts: no container is larger than without. In sums it is said."""
    for number in range(20):
        (kinds / "in" / f"tiny {number}.json").write_text(f"[{number}]")
    run("pack", "-r", "in", "-o", "plain")
    done = run("pack", "--json", "-r", "in", "-o", "out", "--shared-dict", "kinds.dict")
    for path in (kinds / "out").rglob("*.spk"):
        assert path.stat().st_size <= (kinds / "plain" / path.relative_to(kinds / "out")).stat().st_size  # noqa: E501 # fmt: skip
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    without = [Path(line["source"]).name for line in lines if line["dictionary"] is None]
    assert len(without) == 20
    assert all(name.startswith("tiny") for name in without)
    saved = format_size(size_of(kinds / "plain") - size_of(kinds / "out"))
    told = run("pack", "-f", "-r", "in", "-o", "out", "--shared-dict", "kinds.dict")
    for each in done, told:  # with a line for each file, and with none
        assert (
            f"kinds.dict: used for 60 of 80 files, {saved} smaller by it; without it the others"
            " are no larger"
        ) in each.stderr.decode()
    run("unpack", "out/tiny 3.json.spk", "-o", "3.json")
    again = run("pack", "in/tiny 3.json", "-o", "3.spk", "--shared-dict", "kinds.dict")
    assert "kinds.dict: used for none of 1 file: none is smaller by it" in again.stderr.decode()
    (kinds / "kinds.dict").unlink()
    run("unpack", "--test", "out/tiny 3.json.spk")  # which needs none


def test_files_that_it_was_not_trained_on_gain_too(tmp_path: Path) -> None:
    """Of its ID each frame has two bytes."""
    files = [tmp_path / f"{number}.json" for number in range(120)]
    for number, path in enumerate(files):
        path.write_bytes(record(number))
    shared = tmp_path / "kinds.dict"
    trained = serialpack.train_dictionary(files[::2], shared)
    assert 1 << 15 <= int.from_bytes(trained.dictionary.content[4:8], "little") < 1 << 16
    with_it, plain = (
        sum(serialpack.pack(path, io.BytesIO(), shared_dict=each).packed for path in files[1::2])
        for each in (shared, None)
    )
    assert 2 * with_it < plain


def test_what_is_no_dictionary_is_refused_before_anything_is_written(run: Run, kinds: Path) -> None:
    (kinds / "no.dict").write_bytes(b"not one")
    (kinds / "broken.dict").write_bytes(b"\x37\xa4\x30\xec\1\0\0\0" + b"broken" * 9)
    for path, words in (("no.dict", "is no dictionary"), ("broken.dict", "no sound dictionary")):
        said = run("pack", "in/2.json", "-o", "x.spk", "--shared-dict", path, code=3)
        assert words in said.stderr.decode()
        assert path in said.stderr.decode()
    said = run("pack", "in/2.json", "in/4.json", "--shared-dict", "few.dict", code=4)
    assert "no dictionary can be trained from 2 files" in said.stderr.decode()
    assert said.stderr.decode().endswith(
        ": they are too few, or too small; pack without --shared-dict\n"
    )
    (kinds / "large.json").write_bytes(b"[%s0]" % (b"0," * 40_000))
    said = run("pack", "large.json", "none.json", "--shared-dict", "few.dict", code=1)
    assert said.stderr.startswith(b"serialpack: none.json: cannot read: no such file")
    said = run("pack", "large.json", "--shared-dict", "few.dict", code=4)
    assert "no input is a file of up to 64 KiB, of which a dictionary" in said.stderr.decode()
    run("pack", "-c", "xz", "in/2.json", "--shared-dict", "few.dict", code=2)
    run("pack", "-r", "--dry-run", "in", "--shared-dict", "few.dict")
    assert not list(kinds.rglob("*.spk"))
    assert not (kinds / "few.dict").exists()


def test_in_python_a_function_trains_one(tmp_path: Path) -> None:
    told = r"; train_dictionary\(files, path\) makes one"
    with pytest.raises(FileNotFoundError, match=told):
        serialpack.dumps([1], shared_dict=tmp_path / "none.dict")


def test_who_unpacks_is_not_told_to_train_another(run: Run, kinds: Path) -> None:
    """Which would have another hash: "pack -r FOLDER --shared-dict PATH trains one", it said."""
    (kinds / "no.dict").write_bytes(b"not one")
    run("pack", "in/2.json")
    for verb in ("unpack", "inspect"):
        for path, wrong, code in (
            ("missing.dict", "there is no such dictionary", 1),
            ("no.dict", "is no dictionary of zstd", 3),
        ):
            said = run(verb, "in/2.json.spk", "--shared-dict", path, code=code).stderr.decode()
            assert said.startswith(f"serialpack: {path}: {wrong}; name the one that ")
            assert "serialpack inspect FILE" in said
            assert "train" not in said


@needs_posix
def test_one_that_another_run_trains_meanwhile_is_used(run: Run, kinds: Path) -> None:
    """The second of two that began together failed for all its files: "exists already"."""
    env = injected(
        kinds / "site",
        "import os, shutil\n"
        "real = os.link\n"
        "def link(temp, path, **named):\n"
        "    if path.endswith('.dict'):\n"
        "        shutil.copy(temp, path)\n"
        "    return real(temp, path, **named)\n"
        "os.link = link\n",
    )
    said = run("pack", "-r", "in", "-o", "out", "--shared-dict", "k.dict", env=env)
    assert "k.dict: used for 60 of 60 files" in said.stderr.decode()
    assert "trained" not in said.stderr.decode()
    run("unpack", "-r", "out", "-o", "back", "--shared-dict", "k.dict")
    assert (kinds / "back/sub/1.json").read_bytes() == record(1)


def test_the_library_packs_and_reads_with_one(tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.json" for number in range(60)]
    for number, path in enumerate(files):
        path.write_bytes(record(number))
    shared = tmp_path / "elsewhere" / "kinds.dict"
    shared.parent.mkdir()
    done = serialpack.train_dictionary(files, shared)
    assert done.files == 60
    again = serialpack.train_dictionary(files, tmp_path / "again.dict")
    assert again.dictionary.data == done.dictionary.data  # the same files, the same dictionary
    with pytest.raises(serialpack.FileError, match="exists already"):
        serialpack.train_dictionary(files, shared)

    out = io.BytesIO()
    report = serialpack.pack(files[0], out, shared_dict=shared)
    assert report.dictionary == str(done.dictionary)
    back = io.BytesIO()
    serialpack.unpack(io.BytesIO(out.getvalue()), back, shared_dict=shared)
    assert back.getvalue() == record(0)

    obj = json.loads(record(7))
    with_one = serialpack.dumps(obj, "json", shared_dict=shared)
    assert len(with_one) < len(serialpack.dumps(obj, "json"))
    assert serialpack.loads(with_one, shared_dict=shared) == obj
    tiny = serialpack.dumps([1], "json", shared_dict=shared)
    assert tiny == serialpack.dumps([1], "json")


def test_large_sources_need_none(tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.json" for number in range(40)]
    for number, path in enumerate(files):
        path.write_bytes(record(number))
    serialpack.train_dictionary(files, tmp_path / "kinds.dict")
    shared = tmp_path / "kinds.dict"
    large = io.BytesIO(b"".join(map(record, range(300))))
    assert serialpack.pack(large, io.BytesIO(), shared_dict=shared).dictionary is None
    table = tmp_path / "table.json"
    table.write_text(json.dumps([{"n": n, "square": n * n} for n in range(900)]))
    report = serialpack.pack(table, io.BytesIO(), shared_dict=shared)
    assert report.chain.startswith("columns")  # which are smaller
    assert report.dictionary is None


@pytest.mark.peers
@pytest.mark.skipif(shutil.which("zstd") is None, reason="no zstd")
def test_the_zstd_tool_reads_it_and_makes_one(run: Run, kinds: Path) -> None:
    run("pack", "-r", "in", "-o", "out", "--shared-dict", "out/kinds.dict")

    def zstd(*words: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(["zstd", *words], cwd=kinds, capture_output=True, check=False)

    assert zstd("-dc", "-D", "out/kinds.dict", "out/2.json.spk").stdout == record(2)
    without = zstd("-dc", "out/2.json.spk")
    assert without.returncode
    assert without.stdout == b""
    sources = [str(path) for path in sorted((kinds / "in").rglob("*.json"))]
    assert not zstd("-q", "--train", *sources, "--maxdict=4000", "-o", "theirs.dict").returncode
    run("pack", "in/2.json", "-o", "2.spk", "--shared-dict", "theirs.dict")
    run("unpack", "2.spk", "-o", "2.json")
    assert (kinds / "2.json").read_bytes() == record(2)


@pytest.mark.parametrize("asked", ["zstd", "zstd:3"])
def test_a_level_that_is_named_is_that_of_the_dictionary_too(tmp_path: Path, asked: str) -> None:
    """One that is left open is a higher one with a dictionary."""
    sources = [tmp_path / f"{number}.json" for number in range(60)]
    for number, path in enumerate(sources):
        path.write_bytes(record(number))
    shared = tmp_path / "kinds.dict"
    serialpack.train_dictionary(sources, shared)
    report = serialpack.pack(sources[0], io.BytesIO(), codec=asked, shared_dict=shared)
    assert report.dictionary is not None
    assert report.chain == ("raw+zstd:12" if asked == "zstd" else "raw+zstd:3")
    value = json.loads(record(0))
    packed = serialpack.dumps(value, f"json+{asked}", shared_dict=shared)
    chain = str(serialpack.inspect(io.BytesIO(packed)).members[0].chain)
    assert chain == report.chain.replace("raw", "json")


def test_small_real_files_become_half_as_large(shared_data: Path, tmp_path: Path) -> None:
    """JSON and YAML of 512 to 10,000 bytes: their containers, beside those without a dictionary."""
    files = [
        path
        for path in sorted(shared_data.rglob("*"))
        if path.suffix in (".json", ".yaml", ".yml") and 512 <= path.stat().st_size < 10_000
    ]
    serialpack.train_dictionary(files, tmp_path / "kinds.dict")
    sums = []
    for shared in (tmp_path / "kinds.dict", None):
        reports = [
            serialpack.pack(path, io.BytesIO(), shared_dict=shared, threads=1) for path in files
        ]
        sums.append(sum(report.packed for report in reports))
    assert 2 * sums[0] <= sums[1]


@pytest.mark.parametrize("kind", [".json", ".yaml"])
def test_no_small_real_file_becomes_larger(shared_data: Path, tmp_path: Path, kind: str) -> None:
    """Some of those under 4 KB, of which most are of a few bytes."""
    files = [
        path
        for path in sorted(shared_data.rglob(f"*{kind}"))
        if path.is_file() and 0 < path.stat().st_size < 4096
    ][::8]
    shared = tmp_path / "kinds.dict"
    serialpack.train_dictionary(files, shared)
    used = 0
    for path in files:
        report = serialpack.pack(path, io.BytesIO(), shared_dict=shared, threads=1)
        plain = serialpack.pack(path, io.BytesIO(), threads=1)
        assert report.packed + report.saved == plain.packed
        assert (report.saved > 0) == (report.dictionary is not None)
        used += report.saved > 0
    assert 0 < used < len(files)


@pytest.mark.parametrize("block_size", [None, 64], ids=["short", "blocks"])
def test_no_mutant_of_one_is_taken_for_whole(tmp_path: Path, block_size: int | None) -> None:
    """A value changed, and all checksums right again: the source's bytes, or a refusal."""
    for number in range(20):
        (tmp_path / f"{number}.json").write_bytes(record(number))
    shared = tmp_path / "kinds.dict"
    serialpack.train_dictionary(tmp_path.glob("*.json"), shared)
    out = io.BytesIO()
    serialpack.pack(tmp_path / "7.json", out, shared_dict=shared, block_size=block_size)
    refused = 0
    for what, mutant in mutants(out.getvalue(), 150, 7):
        back = io.BytesIO()
        try:
            serialpack.unpack(io.BytesIO(mutant), back, threads=1)
        except (serialpack.InputError, serialpack.RefusedError, serialpack.FileError):
            refused += 1
        else:
            assert back.getvalue() == record(7), what
    assert refused > 20
