"""Packing, inspecting and unpacking as a new user would, right and wrong."""

from __future__ import annotations

import json
import os
import pickle
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.told import lines, needs_posix
from tests.noise import noise


def test_pack_inspect_unpack(run: Run, sample: Path) -> None:
    before = sample.read_bytes()
    done = run("pack", sample)
    assert "sample.ndjson" in lines(done.stderr)[0]
    assert "columns:3+none, exact bytes" in lines(done.stderr)[0]
    assert done.stdout == b""
    packed = sample.with_name("sample.ndjson.spk")
    assert b"columns:3+none" in run("inspect", packed).stdout
    sample.unlink()
    run("unpack", packed)
    assert sample.read_bytes() == before


def test_a_pipe_on_both_sides(run: Run, sample: Path) -> None:
    packed = run("pack", stdin=sample.read_bytes()).stdout
    assert run("unpack", stdin=packed).stdout == sample.read_bytes()
    assert run("unpack", "-", "-o", "-", stdin=packed).stdout == sample.read_bytes()
    assert run("pack", "-q", sample, "-o", "-").stderr == b""


def test_several_files_go_into_a_folder_and_failures_do_not_stop_the_rest(
    run: Run, tmp_path: Path, sample: Path
) -> None:
    other = tmp_path / "other.txt"
    other.write_text("text")
    folder = tmp_path / "packed"
    folder.mkdir()
    done = run("pack", sample, tmp_path / "missing", other, "-o", folder, code=1)
    assert sorted(p.name for p in folder.iterdir()) == ["other.txt.spk", "sample.ndjson.spk"]
    (error,) = [line for line in lines(done.stderr) if line.startswith("serialpack: ")]
    assert "missing: cannot read: no such file or directory" in error
    assert run("pack", "", code=1).stderr.startswith(b"serialpack: '': cannot read: no such file")


#: Inputs of ``unpack --records 0:1``, by the exit code of each.
BY_CODE = {0: "sample.ndjson.spk", 1: "missing.spk", 2: "bytes.spk", 3: "no.spk", 4: "p.spk"}


@pytest.mark.parametrize(
    ("codes", "worst"),
    [([0, 1], 1), ([2, 0], 2), ([1, 2], 1), ([4, 1, 2], 4), ([3, 4], 3), ([2, 1, 4, 3, 0], 3)],
)
def test_the_worst_exit_code_wins(
    run: Run, tmp_path: Path, sample: Path, codes: list[int], worst: int
) -> None:
    """Of damage, a refusal, the environment, and the usage, in this order."""
    (tmp_path / "bytes").write_bytes(b"\0\1\2")
    (tmp_path / "p").write_bytes(pickle.dumps([1]))
    run("pack", sample, "bytes")
    run("pack", "-s", "pickle", "-F", "pickle", "--trust", "p")
    (tmp_path / "no.spk").write_bytes(b"plain text")
    for order in (codes, codes[::-1]):
        files = [BY_CODE[code] for code in order]
        run("unpack", "-f", "--records", "0:1", *files, "-o", "out/", code=worst)
    assert (tmp_path / "out/sample.ndjson").exists() == (0 in codes)


def test_no_arguments_show_the_help(run: Run) -> None:
    assert b"pack" in run().stdout


def test_the_version_and_nothing_else(run: Run) -> None:
    from serialpack import __version__

    assert run("--version").stdout.decode() == f"serialpack {__version__}\n"


def test_test_checks_and_writes_nothing(run: Run, sample: Path) -> None:
    run("pack", sample)
    sample.unlink()
    assert "all is well" in run("unpack", "--test", f"{sample}.spk").stderr.decode()
    assert not sample.exists()


def test_rm_removes_the_source_only_after_success(run: Run, sample: Path) -> None:
    before = sample.read_bytes()
    packed = Path(f"{sample}.spk")
    packed.write_bytes(b"in the way")
    run("pack", "--rm", sample, code=1)
    assert sample.read_bytes() == before
    packed.unlink()
    run("pack", "--rm", sample)
    assert not sample.exists()
    run("unpack", "--rm", packed)
    assert sample.read_bytes() == before
    assert not packed.exists()
    run("pack", "--rm", "-o", "-", sample, code=2)
    assert sample.exists()


def test_the_stored_name_is_used_on_demand_and_never_trusted(
    run: Run, sample: Path, tmp_path: Path
) -> None:
    import serialpack

    run("pack", sample, "-o", tmp_path / "blob")
    before = sample.read_bytes()
    sample.unlink()
    assert "does not end in .spk" in run("unpack", tmp_path / "blob", code=1).stderr.decode()
    run("unpack", "-N", tmp_path / "blob")
    assert sample.read_bytes() == before
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    for name, safe in [("../../evil", "evil"), ("/etc/evil2", "evil2"), ("a\x1b[2Jb", "a[2Jb")]:
        with (deep / "x").open("wb") as out, sample.open("rb") as source:
            serialpack.pack(source, out, identity=(name, 1))
        run("unpack", "-N", deep / "x")
        assert (deep / safe).read_bytes() == before
        shown = run("inspect", deep / "x").stdout
        assert b"\x1b" not in shown
    with (deep / "x").open("wb") as out, sample.open("rb") as source:
        serialpack.pack(source, out, identity=("..", 1))
    assert "no name that is safe" in run("unpack", "-N", deep / "x", code=1).stderr.decode()


@needs_posix
def test_mode_and_time_come_back(run: Run, sample: Path) -> None:
    sample.chmod(0o640)
    os.utime(sample, ns=(1, 1_500_000_000_123_456_789))
    before = sample.stat()
    run("pack", sample)
    run("unpack", "-f", f"{sample}.spk")
    assert sample.stat().st_mtime_ns == before.st_mtime_ns
    assert stat.S_IMODE(sample.stat().st_mode) == 0o640


def test_records_and_bytes(run: Run, sample: Path) -> None:
    run("pack", "--block-size", "4K", sample)
    whole = sample.read_bytes()
    rows = whole.splitlines(keepends=True)
    packed = f"{sample}.spk"
    for span, want in [("0:3", rows[:3]), ("500:502", rows[500:502]), ("998:", rows[998:])]:
        assert run("unpack", "--records", span, packed, "-o", "-").stdout == b"".join(want)
        stdin = Path(packed).read_bytes()
        assert run("unpack", "--records", span, stdin=stdin).stdout == b"".join(want)
    assert run("unpack", "--records", "5000:", packed, "-o", "-").stdout.strip() == b""
    assert run("unpack", "--bytes", "10:20", packed, "-o", "-").stdout == whole[10:20]
    assert run("unpack", "--bytes", "9000:", packed, "-o", "-").stdout == whole[9000:]
    run("unpack", "--records", "3", packed, "-o", "-", code=2)
    run("unpack", "--records", "3:1", packed, "-o", "-", code=2)
    run("unpack", "--records", "0:1", "--bytes", "0:1", packed, "-o", "-", code=2)
    (sample.parent / "plain.txt").write_bytes(b"no records here")
    run("pack", sample.parent / "plain.txt")
    done = run("unpack", "--records", "0:1", sample.parent / "plain.txt.spk", "-o", "-", code=2)
    assert "--bytes" in done.stderr.decode()


def test_to_gives_the_very_source_in_its_own_format(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b'[\n  {"a": 1},\n  {"a": 2}\n]\n')
    run("pack", "-s", "json", path)
    packed = tmp_path / "a.json.spk"
    assert run("unpack", "--to", "ndjson", packed, "-o", "-").stdout == b'{"a":1}\n{"a":2}\n'
    assert run("unpack", "--to", "json", packed, "-o", "-").stdout == path.read_bytes()
    done = run("unpack", "--to", "csv", packed, "-o", "-")
    assert (done.stdout, b"2 values as bare cells" in done.stderr) == (b"a\n1\n2\n", True)
    done = run("unpack", "--strict", "--to", "csv", packed, "-o", "-", code=4)
    assert "record 0, $.a" in done.stderr.decode()


def test_dry_run_does_nothing(run: Run, sample: Path) -> None:
    assert "would pack" in run("pack", "--dry-run", sample).stderr.decode()
    assert not Path(f"{sample}.spk").exists()


def test_the_effort_dial_is_typed_like_gzips(run: Run, sample: Path) -> None:
    for words, chain in [
        (["-1"], "raw+zstd:1"),
        (["-9"], "columns:9+none"),
        (["-qf9", "-s", "raw"], "raw+zstd:22"),
        (["-5f"], "columns:5+none"),
        (["--effort", "4", "-s", "raw"], "raw+zstd:5"),
    ]:
        run("pack", "-f", *words, sample)
        found = json.loads(run("inspect", "--json", f"{sample}.spk").stdout)
        assert found["members"][0]["chain"] == chain


def test_settings_come_from_the_file_then_the_environment_then_the_options(
    run: Run, sample: Path, tmp_path: Path
) -> None:
    config = tmp_path / "config" / "serialpack"
    config.mkdir(parents=True)
    (config / "config.toml").write_text('[pack]\ncodec = "zlib:1"\n')
    env = {"XDG_CONFIG_HOME": str(tmp_path / "config")}

    def chain(*args: str, **more: str) -> str:
        done = run("pack", "-f", *args, "--json", sample, env={**env, **more})
        return str(json.loads(done.stdout)["chain"])

    if sys.platform != "linux":
        pytest.skip("the folder of settings is elsewhere here")
    assert chain() == "raw+zlib:1"
    assert chain(SERIALPACK_PACK_CODEC="bz2:2") == "raw+bz2:2"
    assert chain("-c", "xz:1", SERIALPACK_PACK_CODEC="bz2:2") == "raw+xz:1"
    (config / "config.toml").write_text("[pack]\ncoddec = 1\n")
    assert "coddec" in run("pack", sample, code=2, env=env).stderr.decode()
    (config / "config.toml").write_text("[pack\n")
    assert "TOML" in run("pack", sample, code=2, env=env).stderr.decode()


def test_inputs_from_a_list(run: Run, sample: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    odd = tmp_path / "odd\nname"
    odd.write_bytes(b"x")
    (tmp_path / "list").write_bytes(f"{sample}\0{odd}\0".encode())
    run("pack", "--files-from", tmp_path / "list", "-0", "-o", folder)
    below = folder / tmp_path.relative_to(tmp_path.anchor)
    assert sorted(p.name for p in below.iterdir()) == ["odd\nname.spk", "sample.ndjson.spk"]
    run("pack", "-f", "--files-from", "-", stdin=f"{sample}\n".encode())
    assert Path(f"{sample}.spk").exists()


def test_stats_and_profile(run: Run, sample: Path, tmp_path: Path) -> None:
    # Blocks that take long enough for both threads to have some.
    how = ("--block-size", "1K", "-c", "xz:9", "-j", "2")
    args = (*how, "--stats", "--profile", tmp_path / "p.html")
    done = run("pack", *args, sample)
    rows = {line.split()[0]: line.split()[1:] for line in done.stderr.decode().splitlines()[1:]}
    assert {"stage", "read", "serialize", "prove", "compress", "write", "2"} <= rows.keys()
    # What each thread did and waited is what passed, as often as there are threads.
    assert float(rows["total"][0]) + float(rows["total"][1]) <= 4.1 * float(rows["wall"][0])
    page = (tmp_path / "p.html").read_text()
    assert "sample.ndjson" in page
    assert page.count("<div class=lane>") == 4
    assert "http" not in page


@needs_posix
def test_names_are_escaped_wherever_they_are_shown(run: Run, tmp_path: Path) -> None:
    for name in [b"red[red]", b"esc\x1b[31m", b"new\nline", b"\xff\xfe", b"-dash", b"a b"]:
        path = os.fsencode(tmp_path / os.fsdecode(name))
        with open(path, "wb") as file:  # noqa: PTH123 (a name of bytes)
            file.write(b"data")
        text = os.fsdecode(path)
        done = run("pack", "--", text, env={"LC_ALL": "C"})
        assert b"\x1b" not in done.stderr
        assert done.stderr.count(b"\n") == 1
        done = run("inspect", f"{text}.spk", env={"LC_ALL": "C"})
        assert b"\x1b" not in done.stdout
        Path(text).unlink()
        run("unpack", "--", f"{text}.spk")
        with open(path, "rb") as file:  # noqa: PTH123
            assert file.read() == b"data"
        assert b"\x1b" not in run("unpack", "--", f"{text}.spk", code=1).stderr


def test_two_inputs_never_share_an_output(run: Run, tmp_path: Path) -> None:
    """It is said before anything is written: with --rm only the last of them would be left."""
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.json").write_text(f'"{folder}"')
    files = [tmp_path / "a" / "x.json", tmp_path / "b" / "x.json"]
    out = tmp_path / "out"
    done = run("pack", "-f", "--rm", *files, "-o", out, code=1)
    assert f"{files[0]} has the same output, {out}/x.json.spk" in done.stderr.decode()
    assert [file.read_text() for file in files] == ['"a"', '"b"']
    assert not out.exists()


def test_several_outputs_go_into_a_folder_that_is_made(run: Run, sample: Path) -> None:
    run("pack", sample, "-o", f"{sample.parent}/new/")
    assert (sample.parent / "new" / "sample.ndjson.spk").exists()


def test_nothing_is_removed_that_was_not_proved_or_not_all_there(run: Run, sample: Path) -> None:
    assert "--no-verify" in run("pack", "--rm", "--no-verify", sample, code=2).stderr.decode()
    run("pack", "-s", "msgpack", sample)
    packed = f"{sample}.spk"
    to = ("--to", "msgpack", packed, "-o", f"{sample}.msgpack")
    for loss in (["--no-verify"], ["--skip-bad"], ["--lossy", "nan"]):
        run("unpack", "--rm", *loss, *to, code=2)
    run("unpack", "--rm", "--records", "0:1", packed, "-o", f"{sample}.part", code=2)
    assert sample.exists()
    assert Path(packed).exists()


@needs_posix
def test_a_link_is_not_removed(run: Run, sample: Path) -> None:
    link = sample.with_name("link")
    link.symlink_to(sample)
    assert "symbolic link" in run("pack", "--rm", link, code=1).stderr.decode()
    assert link.is_symlink()


def test_a_profile_overwrites_neither_input_nor_output(run: Run, sample: Path) -> None:
    before = sample.read_bytes()
    run("pack", sample, "--profile", sample, code=1)
    run("pack", "-f", sample, "--profile", sample, code=1)
    run("pack", "-f", sample, "--profile", f"{sample}.spk", code=1)
    assert sample.read_bytes() == before
    assert run("unpack", f"{sample}.spk", "-o", "-").stdout == before


def test_standard_input_has_no_name_to_store(run: Run, sample: Path) -> None:
    with sample.open("rb") as file:
        done = subprocess.run(
            [sys.executable, "-m", "serialpack", "pack"],
            stdin=file,
            capture_output=True,
            check=True,
        )
    found = json.loads(run("inspect", "--json", "-", stdin=done.stdout).stdout)
    assert found["members"][0]["name"] is None


def test_ranges_say_that_they_are_a_part(run: Run, sample: Path) -> None:
    run("pack", "--block-size", "4K", sample)
    packed = f"{sample}.spk"
    done = run("unpack", "--json", "--bytes", "0:1K", packed, "-o", f"{sample}.part")
    found = json.loads(done.stdout)
    blocks = json.loads(run("inspect", "--json", packed).stdout)["members"][0]["blocks"]
    assert (found["size"], found["blocks"], found["blocks_read"]) == (1024, blocks, 1)
    assert "a part" in done.stderr.decode()


def test_what_does_not_shrink_is_said_to_be_stored(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "noise"
    path.write_bytes(noise(100_000))
    assert json.loads(run("pack", "--json", path).stdout)["stored_blocks"] == 1
    assert "1 stored" in run("inspect", f"{path}.spk").stdout.decode()
