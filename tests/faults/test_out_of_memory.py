"""Memory that runs out under a limit.

INV: the output path holds what it held before or the whole new file; exit 0 only with the latter;
the source is untouched unless the new file is whole; one line on standard error.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import serialpack
from serialpack.cli import app, guard
from serialpack.cli.words import LESS_MEMORY
from tests.faults.conftest import MIB, Command, Start, hidden, records
from tests.faults.disk import limited
from tests.injected import injected
from tests.noise import noise

pytestmark = pytest.mark.skipif(os.name != "posix", reason="POSIX limits, mounts and users")


def one_line(process: Command, output: Path) -> int:
    """INV under a limit of memory; the exit code. NumPy's OpenBLAS may add lines of its own."""
    _, told = process.communicate(timeout=120)
    said = [x for x in told.decode().splitlines() if "OpenBLAS" not in x]
    assert process.returncode in (0, 1), (process.returncode, said)
    assert len(said) <= 1, said
    assert "Traceback" not in told.decode()
    assert "internal error" not in told.decode(), said
    if process.returncode:
        assert not output.exists()
    return process.returncode


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("can't start new thread"),  # threading
        RuntimeError("can't allocate read lock"),  # io.BufferedReader
        RuntimeError("cannot allocate lock"),  # queue
        ImportError("x.so: failed to map segment from shared object"),
    ],
    ids=str,
)
def test_whoever_says_it_it_is_memory(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused() -> None:
        raise error

    monkeypatch.setattr(app, "name_standard_output", refused)
    monkeypatch.setattr(guard, "is_limited", lambda: True)
    assert app._answer([]) == 1
    assert capsys.readouterr().err == f"serialpack: out of memory; {LESS_MEMORY}\n"


def test_threads_that_are_not_permitted_are_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "is_limited", lambda: False)
    limit = guard.of_limit(RuntimeError("can't start new thread"))
    assert limit is not None
    assert limit.said == (
        "no more threads can be started; ulimit -u says how many are permitted, and -j 1 takes"
        " fewer"
    )


@pytest.mark.parametrize("verb", ["pack", "inspect"], ids=["in a group", "one by one"])
def test_whoever_says_it_the_other_files_go_on(start: Start, tmp_path: Path, verb: str) -> None:
    """All ended with the first file for which a lock, or a thread, had no memory."""
    for name in "abc":
        (tmp_path / name).write_bytes(noise(20_000))
    env = injected(
        tmp_path / "site",
        "import builtins\n"
        "real = builtins.open\n"
        "def refused(path, *args, **named):\n"
        "    if path == 'b':\n"
        '        raise RuntimeError("can\'t allocate read lock")\n'
        "    return real(path, *args, **named)\n"
        "builtins.open = refused\n",
    )
    process = start(verb, "-q", "--json", "a", "b", "c", env=env)
    told, said = process.communicate(timeout=120)
    assert process.returncode == 1
    assert said.decode() == f"serialpack: b: out of memory; {LESS_MEMORY}\n"
    assert ["error" in json.loads(line) for line in told.splitlines()] == [False, True, False]


def test_out_of_memory_is_one_line_and_no_output(start: Start, tmp_path: Path) -> None:
    """A ladder of limits from where Python just starts to where all is well."""
    source, output = tmp_path / "source", tmp_path / "out"
    source.write_bytes(noise(6 * MIB))
    codes = []
    for mib in range(32, 400, 12):
        output.unlink(missing_ok=True)
        process = start(
            "pack", "-q", "--block-size", "2M", source, "-o", output,
            before=limited(f"-v {mib * 1024}"),
        )  # fmt: skip
        codes.append(one_line(process, output))
        assert not hidden(tmp_path)
        if codes[-3:] == [0, 0, 0]:
            break
    assert 1 in codes
    assert codes[-1] == 0
    assert serialpack.unpack(output, None).size == 6 * MIB


@pytest.mark.soak
@pytest.mark.parametrize(
    "args",
    [["-9"], ["-c", "xz:9"], ["-c", "bz2"], ["-c", "blosc-zstd"], ["-s", "json", "-j", "1"]],
    ids=" ".join,
)
def test_out_of_memory_in_every_stage_leaves_no_half_output(
    start: Start, tmp_path: Path, args: list[str]
) -> None:
    """msgspec and OpenBLAS may end the process themselves: then a hidden file stays, no more."""
    source, output = tmp_path / "source.ndjson", tmp_path / "out"
    source.write_bytes(records(6 * MIB) if "-s" in args else noise(6 * MIB))
    codes = []
    for mib in range(32, 900, 8):
        output.unlink(missing_ok=True)
        before = limited(f"-v {mib * 1024}")
        process = start("pack", "-q", *args, source, "-o", output, before=before)
        if "json" in args or "blosc-zstd" in args:
            _, said = process.communicate(timeout=120)
            assert b"Traceback" not in said
            assert output.exists() == (process.returncode == 0)
            codes.append(process.returncode)
        else:
            codes.append(one_line(process, output))
            assert not hidden(tmp_path)
        if codes[-4:] == [0] * 4:
            break
    assert codes[-1] == 0
    assert serialpack.unpack(output, None).size == source.stat().st_size
