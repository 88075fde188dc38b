"""``serialpack bench`` from the command line, in real processes."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from tests.cli.conftest import Run, environment
from tests.faults.conftest import wait_for

#: Seconds in which all is measured that a test asks for, also beside other work: bench ends with
#: that, and not with its budget.
PLENTY = "120"
#: So that it ends soon.
FEW_CODECS = ("-c", "zstd:1", "-c", "none")
FEW = ("-s", "raw", "-s", "columns", "-s", "msgspec-json", *FEW_CODECS)


@pytest.fixture
def records(tmp_path: Path) -> Path:
    """NDJSON that codecs and serializers treat differently."""
    path = tmp_path / "records.ndjson"
    rows = ({"id": n, "name": f"name {n % 17}", "share": n / 7} for n in range(2000))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def bench(run: Run, *args: str | Path, **how: object) -> dict[str, object]:
    done = run("bench", "--format", "json", *args, **how)
    (line,) = done.stdout.splitlines()
    found: dict[str, object] = json.loads(line)
    return found


def test_the_table_ends_with_commands_that_do_what_was_promised(run: Run, records: Path) -> None:
    done = run("bench", "--budget", PLENTY, *FEW, records)
    text = done.stdout.decode()
    assert "columns:3+none (auto)" in text
    assert "memcpy" in text
    commands = [line.strip() for line in text.splitlines() if "serialpack pack" in line]
    assert 1 <= len(commands) <= 4
    for command in set(commands):
        promised = re.search(r"([\d,]+) bytes,[^\n]*\n\s*" + re.escape(command), text, re.MULTILINE)
        assert promised is not None, text
        run(*shlex.split(command)[1:], "-f")
        size = records.with_name("records.ndjson.spk").stat().st_size
        assert size == int(promised[1].replace(",", "")), command


@pytest.mark.skipif(os.name != "posix", reason="names of POSIX")
@pytest.mark.parametrize("name", [b"two\nlines", b"no \xff UTF-8", b"it's $x\t\\", b"-f"])
def test_commands_survive_copy_and_paste(run: Run, tmp_path: Path, name: bytes) -> None:
    """Of any name, with the format that the user said."""
    (tmp_path / os.fsdecode(name)).write_bytes(b'{"a": 1}\n' * 20)
    options = ("--budget", "0.5", "-s", "raw", "-c", "zstd:3", "--from", "bytes")
    done = run("bench", *options, "--", os.fsdecode(name))
    command = done.stdout.decode().splitlines()[-1].strip()
    assert command.isprintable()
    (size,) = set(re.findall(r"([\d,]+) bytes, ratio", done.stdout.decode()))
    words = command.replace("serialpack", shlex.join([sys.executable, "-m", "serialpack"]), 1)
    env = environment(tmp_path / "home")
    subprocess.run(["bash", "-c", words], check=True, cwd=tmp_path, env=env, capture_output=True)
    assert (tmp_path / os.fsdecode(name + b".spk")).stat().st_size == int(size.replace(",", ""))


def test_stages_of_ones_choice(run: Run, records: Path) -> None:
    found = bench(
        run, "--budget", PLENTY, "-s", "msgpack", "-c", "zstd:1", "-c", "none", "-j", "1,2", records
    )
    rows = found["rows"]
    assert isinstance(rows, list)
    assert {(row["chain"], row["threads"]) for row in rows} >= {
        ("msgpack+zstd:1", 1),
        ("msgpack+zstd:1", 2),
        ("msgpack+none", 1),
        ("msgpack+none", 2),
    }
    assert all(row["serializer"] == "msgpack" or row["auto"] for row in rows)
    chosen = found["recommendations"]
    assert isinstance(chosen, list)
    assert {each["chain"].partition("+")[0] for each in chosen} == {"msgpack"}


def test_what_is_preferred_is_recommended(run: Run, records: Path) -> None:
    found = bench(
        *(run, "--budget", PLENTY, "--prefer", "text"),
        *("-s", "raw", "-s", "json", "-s", "msgpack", "-c", "zstd:3", records),
    )
    rows = found["rows"]
    assert isinstance(rows, list)
    texts = {row["chain"] for row in rows if "text" in row["traits"]}
    chosen = found["recommendations"]
    assert isinstance(chosen, list)
    assert chosen
    assert {each["chain"] for each in chosen} <= texts


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["-c", "zst", "x"], 2, b"did you mean zstd"),
        (["-s", "masgpack", "x"], 2, b"did you mean"),
        (["--sample", "contact"], 2, b"did you mean contacts"),
        (["--sample", "contacts", "x"], 2, b"exclude each other"),
        (["--budget", "0", "x"], 2, b"budget"),
        (["--budget", "-3", "x"], 2, b"budget"),
        (["-j", "0", "x"], 2, b"1,2,4"),
        (["missing.json"], 1, b"missing.json"),
        (["."], 1, b"folder"),
        (["x", "--save", "x.spk"], 1, b"exists already"),
        (["x", "-f", "--save", "x"], 1, b"x: is the input itself; name another file\n"),
        (["x", "--save", "y", "--html", "./y"], 2, b"cannot write to one file"),
        (["x", "--html", "no/such/page.html"], 1, b"folder does not exist"),
        (["x", "--plot", "plot.gif"], 2, b"takes .png and .svg"),
        (["x", "--compare", "x"], 3, b"x: "),
        (["x.spk"], 2, b"bench what unpack gives back"),
    ],
)
def test_wrong_calls(run: Run, tmp_path: Path, args: list[str], code: int, words: bytes) -> None:
    (tmp_path / "x").write_bytes(b'{"a": 1}\n')
    run("pack", "x")
    done = run("bench", *args, code=code)
    assert words in done.stderr, done.stderr
    assert not done.stdout
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize(
    ("name", "data", "note"),
    [
        ("empty.json", b"", "raw"),
        ("one", b"x", "raw"),
        ("broken.json", b'{"a": [1, 2}' * 50, "line 1"),
        ("trailing.ndjson", b'{"a": 1}\n{"a": \n' * 50, "line 2"),
        ("x.pickle", b"\x80\x04\x95\x05\x00\x00\x00\x00\x00\x00\x00]\x94.", "can run code"),
    ],
)
def test_odd_inputs_are_measured_as_bytes(
    run: Run, tmp_path: Path, name: str, data: bytes, note: str
) -> None:
    (tmp_path / name).write_bytes(data)
    found = bench(run, "--budget", PLENTY, "-c", "zstd:3", "-c", "none", name)
    rows = found["rows"]
    assert isinstance(rows, list)
    known = {row["serializer"].partition(":")[0] for row in rows if row["size"] is not None}
    assert {"raw"} <= known <= {"raw", "columns"}
    assert note in json.dumps(found)


def test_standard_input_is_kept_meanwhile(run: Run, records: Path) -> None:
    found = bench(run, "--budget", PLENTY, "-s", "raw", *FEW_CODECS, stdin=records.read_bytes())
    assert found["source"] == "-"
    assert found["size"] == records.stat().st_size
    assert found["format"] == "ndjson"


def test_reports_are_written_beside(run: Run, records: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    where = {kind: tmp_path / f"out.{kind}" for kind in ("html", "svg", "json")}
    done = run(
        *("bench", "--budget", PLENTY, "-s", "raw", *FEW_CODECS, "--format", "markdown", records),
        *("--html", where["html"], "--plot", where["svg"], "--save", where["json"]),
    )
    assert done.stdout.startswith(b"#") or b"| " in done.stdout
    assert b"<svg" in where["svg"].read_bytes()
    assert where["html"].read_bytes().startswith(b"<!doctype html>")
    saved = json.loads(where["json"].read_bytes())
    assert saved["source"] == str(records)
    again = run("bench", "--budget", PLENTY, "-s", "raw", *FEW_CODECS, "--compare", where["json"])
    assert again.stdout
    changed = run(
        *("bench", "--budget", PLENTY, "-s", "raw", *FEW_CODECS, "--json"),
        *("--compare", where["json"], records),
    )
    json.loads(changed.stdout)


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_prints_what_is_known(records: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "serialpack", "bench", "-v", "--budget", "60", str(records)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(home),
    )
    assert process.stderr is not None
    seen = [process.stderr.readline() for _ in range(6)]
    assert all(line.startswith(b"measuring ") for line in seen)
    children = wait_for(lambda: _children(process.pid), "the process that measures")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"raw+" in out
    assert b"Traceback" not in err
    wait_for(lambda: not children & _children(None), "the end of the process that measures")


def _children(parent: int | None) -> set[str]:
    """Numbers of the processes that ``parent`` has started; None: of all. Not of those that ended:
    where nobody asks of them, as in some containers, they stay for ever."""
    which = ["-e"] if parent is None else ["--ppid", str(parent)]
    command = ["ps", *which, "-o", "pid=,stat="]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    states = (line.split() for line in done.stdout.splitlines())
    return {number for number, state in states if not state.startswith("Z")}


def test_progress_on_a_terminal(records: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    process = subprocess.Popen(
        [sys.executable, "-m", "serialpack", "bench", "--budget", "2", str(records)],
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env=environment(home),
    )
    os.close(theirs)
    shown = b""
    while select.select([ours], [], [], 30)[0]:
        try:
            shown += os.read(ours, 4096)
        except OSError:
            break
    os.close(ours)
    assert process.wait(timeout=60) == 0
    assert re.search(rb"\d+% \|", shown), shown
    assert b"raw+" in shown


@pytest.mark.parametrize(("source", "code"), [("-", 0), ("gone.ndjson", 1)])
def test_compare_measures_the_same_source_again(
    run: Run, records: Path, tmp_path: Path, source: str, code: int
) -> None:
    old = tmp_path / "old.json"
    options = ("--budget", PLENTY, "-s", "raw", "-c", "zstd:3")
    copy = tmp_path / "gone.ndjson"
    copy.write_bytes(records.read_bytes())
    run("bench", *options, "--save", old, source, stdin=records.read_bytes())
    copy.unlink()
    done = run("bench", *options, "--compare", old, stdin=records.read_bytes(), code=code)
    assert (
        b"not there any more" in done.stderr
        if code
        else done.stdout.startswith(b"standard input: ")
    )


def test_what_is_said_of_a_pipe_names_it(run: Run, tmp_path: Path) -> None:
    """And not the temporary copy, which is gone by then."""
    (tmp_path / "a").write_bytes(b"text")
    run("pack", "-q", "a")
    said = run("bench", "-", stdin=(tmp_path / "a.spk").read_bytes(), code=2).stderr
    assert said.startswith(b"serialpack: standard input: is a serialpack file already;")
