"""What is wrong gets one line and an exit code, and leaves no output."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import Run
from tests.cli.told import lines, needs_posix, not_root
from tests.injected import injected, powerless


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["--nonsense"], 2, "--nonsense"),
        (["-c", "zstd:99"], 2, "level must be -7..22"),
        (["-c", "zsdt"], 2, "did you mean zstd"),
        (["-s", "jason"], 2, "did you mean json"),
        (["--filter", "shuffle:0"], 2, "1..255"),
        (["--from", "jsno"], 2, "json"),
        (["--block-size", "big"], 2, "size"),
        (["--block-size", "1G"], 2, "64M"),
        (["--meta", "novalue"], 2, "KEY=VALUE"),
        (["--effort", "0"], 2, "effort"),
        (["-j", "0"], 2, "threads"),
        (["--exact", "--no-verify"], 2, "exclude"),
        (["-s", "json", "--from", "bytes"], 3, "json packs records"),
    ],
)
def test_wrong_words_get_one_line(
    run: Run, sample: Path, args: list[str], code: int, words: str
) -> None:
    done = run("pack", *args, sample, code=code)
    (line,) = lines(done.stderr)
    assert words in line
    assert not sample.with_name("sample.ndjson.spk").exists()


def test_an_unknown_verb_is_told_the_near_one(run: Run) -> None:
    assert "did you mean unpack?" in run("unpak", code=2).stderr.decode()


@needs_posix
def test_outputs_that_cannot_be_are_refused_and_untouched(
    run: Run, tmp_path: Path, sample: Path
) -> None:
    target = tmp_path / "there"
    target.write_bytes(b"precious")
    for output, words in [
        (target, "exists already; -f overwrites it"),
        (sample, "is the input itself"),
        (tmp_path / "no" / "such", "folder does not exist"),
    ]:
        before = sample.read_bytes()
        (line,) = lines(run("pack", sample, "-o", output, code=1).stderr)
        assert words in line
        assert str(output) in line
        assert sample.read_bytes() == before
    assert target.read_bytes() == b"precious"
    run("pack", "-f", sample, "-o", target)
    assert target.read_bytes() != b"precious"
    run("pack", "-f", sample, "-o", sample, code=1)


def test_a_folder_as_input(run: Run, tmp_path: Path) -> None:
    assert "is a folder" in run("pack", tmp_path, code=1).stderr.decode()


@pytest.mark.parametrize(
    ("content", "like"),
    [
        (b"\x1f\x8b\x08\0\0\0\0\0", "looks like gzip"),
        (b"PK\x03\x04rest", "looks like zip"),
        (b'{"a": 1}\n', "looks like"),
        (b"\x28\xb5\x2f\xfd\x04\x00\x01\x00\x00\x99\xe9\xd8\x51", "looks like zstd"),
        (b"", "empty"),
    ],
)
def test_what_is_not_a_container_is_named(
    run: Run, tmp_path: Path, content: bytes, like: str
) -> None:
    path = tmp_path / "x.spk"
    path.write_bytes(content)
    (line,) = lines(run("unpack", path, code=3).stderr)
    assert f"{path}: not a serialpack file" in line
    assert like in line
    assert not (tmp_path / "x").exists()
    assert like in run("unpack", stdin=content, code=3).stderr.decode()


def test_an_npz_is_no_other_zip(run: Run, tmp_path: Path) -> None:
    """It was "zip: not a data format; unzip unpacks it"."""
    path, other = tmp_path / "arrays.npz", tmp_path / "other.zip"
    np.savez(path, a=np.arange(3))
    with zipfile.ZipFile(other, "w") as made:
        made.writestr("a.txt", "text")
    (line,) = lines(run("unpack", path, "-o", f"{tmp_path}/out/", code=3).stderr)
    assert "looks like NumPy arrays by name, in a zip); --to FORMAT converts it" in line
    assert "unzip unpacks it" in run("unpack", other, code=3).stderr.decode()


def test_packing_a_container_again_needs_force(run: Run, sample: Path) -> None:
    run("pack", sample)
    packed = f"{sample}.spk"
    assert "-f packs it once more" in run("pack", packed, code=1).stderr.decode()
    run("pack", "-f", packed)


def test_invalid_json_is_named_by_line_column_and_byte(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(b'{"a": 1,\n "b": tru}\n')
    (line,) = lines(run("pack", "-s", "json", path, code=3).stderr)
    assert "line 2, column 7 (byte 15)" in line
    assert not (tmp_path / "bad.json.spk").exists()
    run("pack", path)


def test_a_value_that_cannot_be_held_is_refused_with_a_way_out(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "big.json"
    path.write_bytes(b'[{"a": 1}, {"price": 123456789012345678901234567890}]')
    (line,) = lines(run("pack", "-s", "msgpack", path, code=4).stderr)
    assert "record 1, $.price" in line
    assert "beyond 64 bits" in line
    assert "json" in line
    assert not (tmp_path / "big.json.spk").exists()


def test_exact_demands_the_bytes(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "odd.json"
    path.write_bytes(b'{"a":  1.50}')
    assert "same values" in run("pack", "-s", "json", path).stderr.decode()
    run("pack", "-f", "-s", "json", "--exact", path, code=4)


def test_damage_leaves_no_output(run: Run, sample: Path) -> None:
    run("pack", "--block-size", "8K", sample)
    packed = Path(f"{sample}.spk")
    data = bytearray(packed.read_bytes())
    data[len(data) // 2] ^= 1
    packed.write_bytes(data)
    sample.unlink()
    (line,) = lines(run("unpack", packed, code=3).stderr)
    assert "block" in line
    assert "bytes" in line
    assert not sample.exists()
    assert "block" in run("unpack", "--test", packed, code=3).stderr.decode()
    packed.write_bytes(data[:-50])
    data[len(data) // 2] ^= 1
    packed.write_bytes(data[:-50])
    assert "truncated" in run("unpack", packed, code=3).stderr.decode()


def test_a_missing_extra_is_told(run: Run, sample: Path, tmp_path: Path) -> None:
    env = injected(
        tmp_path / "hide",
        "import sys, importlib.util as u\n"
        "real = u.find_spec\n"
        "u.find_spec = lambda n, p=None: None if n == 'lz4' else real(n, p)\n",
    )
    (line,) = lines(run("pack", "-c", "lz4", sample, code=1, env=env).stderr)
    assert "pip install 'serialpack[lz4]'" in line
    assert not Path(f"{sample}.spk").exists()
    assert b"serialpack[lz4]" in run("inspect", "--stages", env=env).stdout


def test_max_size_refuses_before_writing(run: Run, sample: Path) -> None:
    run("pack", sample)
    sample.unlink()
    done = run("unpack", "--max-size", "1K", f"{sample}.spk", code=4)
    assert "--max-size" in done.stderr.decode()
    assert not sample.exists()
    run("unpack", "--max-size", "1M", f"{sample}.spk")


@needs_posix
def test_a_full_disk_is_one_line(sample: Path) -> None:
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        done = subprocess.run(
            [sys.executable, "-m", "serialpack", "pack", "-o", "-", sample],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 1
    (line,) = lines(done.stderr)
    assert "no space left on device" in line


@needs_posix
@not_root
def test_what_may_not_be_read_or_written_is_one_line(
    run: Run, sample: Path, tmp_path: Path
) -> None:
    env = powerless(tmp_path / "site")
    sample.chmod(0)
    assert "permission denied" in run("pack", sample, env=env, code=1).stderr.decode()
    sample.chmod(0o600)
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    said = run("pack", sample, "-o", locked / "x", env=env, code=1).stderr.decode()
    assert "permission denied" in said


def test_one_odd_name_does_not_end_a_batch(run: Run, sample: Path) -> None:
    names = b"a\0b\n" + os.fsencode(sample) + b"\n"
    done = run("pack", "--files-from", "-", stdin=names, code=1)
    assert "is no name of a file" in done.stderr.decode()
    assert Path(f"{sample}.spk").exists()
