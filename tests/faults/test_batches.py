"""Many files at once: what is left where the program is ended in the middle, and what a second run
makes of it."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

import serialpack
from serialpack.files.output import Output
from serialpack.pipeline.workers import MANY_FILES
from tests.faults.conftest import Start, finish, wait_for
from tests.faults.disk import limited, traced
from tests.injected import HIDDEN, has_unnamed, injected
from tests.noise import noise

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and links of POSIX")

#: So many files, in groups of six (``cli.files.batch``).
FILES, IN_GROUP = 24, 6

#: Ends the program by a signal in the middle of the n-th call of a function of ``os``: before or
#: after the call itself. Calls that are not about the batch are not counted.
_END = """
import os
real, left = os.{call}, [{number}]
def ending(path, *args, **named):
    counts = isinstance(path, int) or {about!r} in os.fspath(path)
    left[0] -= counts
    if counts and not left[0] and {before}:
        os.kill(os.getpid(), {signal})
    result = real(path, *args, **named)
    if counts and not left[0] and not {before}:
        os.kill(os.getpid(), {signal})
    return result
os.{call} = ending
"""

TEMP = ".serialpack-"


def ending(
    folder: Path,
    call: str,
    number: int,
    by: signal.Signals,
    *,
    about: str = TEMP,
    before: bool = True,
    hides: bool = True,
) -> dict[str, str]:
    """The environment in which that happens; ``hides``: of hidden files, as not all systems know
    those without a name."""
    text = _END.format(call=call, number=number, signal=int(by), about=about, before=before)
    return injected(folder, HIDDEN * hides + text)


def left_in(folder: Path) -> dict[str, tuple[bytes, int]]:
    """All files below ``folder``: what is in them, and their time."""
    return {
        path.relative_to(folder).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def packed(folder: Path, below: Path) -> dict[str, tuple[bytes, int]]:
    """What the files in ``folder`` become, below another, where nothing ends anything."""
    for path in sorted(folder.glob("*/*")):
        target = below / path.relative_to(folder).with_name(f"{path.name}.spk")
        target.parent.mkdir(parents=True, exist_ok=True)
        serialpack.pack(path, target)
    found = left_in(below)
    assert len(found) == FILES
    return found


@pytest.fixture
def batch(tmp_path: Path) -> Path:
    for number in range(FILES):
        path = tmp_path / "in" / f"{number % 3}" / f"{number:02}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'{{"number": {number}}}\n' * 9)
    return tmp_path / "in"


@pytest.mark.parametrize(
    ("options", "call", "number", "about", "before"),
    [
        ([], "fchmod", 8, TEMP, True),
        ([], "link", 1, TEMP, True),
        ([], "link", 9, TEMP, False),
        ([], "fsync", 2, TEMP, False),
        (["--sync", "each"], "fsync", 8, TEMP, True),
        (["--rm", "--journal", "kept.log"], "unlink", 2, ".json", False),
        (["--rm"], "link", 9, TEMP, False),
    ],
    ids=["written", "synced", "named", "folder", "each", "removed", "named-to-be-removed"],
)
@pytest.mark.parametrize("hides", [True, False], ids=["hidden", "unnamed"])
def test_killed_and_run_again_it_ends_as_one_that_was_not(
    start: Start,
    batch: Path,
    tmp_path: Path,
    options: list[str],
    call: str,
    number: int,
    about: str,
    before: bool,
    hides: bool,
) -> None:
    """Of files without a name nothing is left. A journal lacked what was just removed."""
    if not hides and not has_unnamed(tmp_path):
        pytest.skip("no files without a name here")
    command = ["pack", "-r", "in", "--skip-existing", *options, "-o"]
    sources = left_in(batch)
    whole = packed(batch, tmp_path / "whole")
    if call == "link" and not hides:
        about = "/fd/"
    env = ending(
        tmp_path / "site", call, number, signal.SIGKILL, about=about, before=before, hides=hides
    )
    process = start(*command, "out", env=env)
    assert process.wait(60) == -signal.SIGKILL
    found = left_in(tmp_path / "out")
    named = {name: found[name] for name in found if TEMP not in name}
    assert hides or len(named) == len(found)
    # What has its name is whole; no source is gone without its output.
    assert all(whole[name] == made for name, made in named.items())
    gone = {name for name in sources if not (batch / name).exists()}
    assert {f"{name}.spk" for name in gone} <= named.keys()
    if "--journal" in options:
        kept = (tmp_path / "kept.log").read_text()
        assert all(f'{{"source": "in/{name}", "target": ' in kept for name in gone)
    if call in ("fchmod", "link") and number < 2:
        assert not named
    finish(start(*command, "out"), 0, most=FILES + 4)
    assert left_in(tmp_path / "out") == whole
    assert left_in(batch) == ({} if "--rm" in options else sources)


#: A system with no place for temporary files, such as a container whose disk is only read.
_NO_PLACE = """
import tempfile
def none() -> str:
    raise FileNotFoundError(2, "no usable temporary directory found")
tempfile._get_default_tempdir = none
"""


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="files in memory are Linux's")
def test_processes_need_no_place_for_temporary_files(start: Start, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for number in range(MANY_FILES):
        (tmp_path / f"in/{number}.json").write_text("[1]")
    process = start(
        "pack", "-r", "in", "-j", "2", "-o", "out", env=injected(tmp_path / "site", _NO_PLACE)
    )
    finish(process, 0, most=1)
    assert len(left_in(tmp_path / "out")) == MANY_FILES


@pytest.mark.parametrize("options", [["-j", "1"], ["-j", "2"]], ids=["thread", "processes"])
def test_killed_at_any_time_and_run_again(start: Start, tmp_path: Path, options: list[str]) -> None:
    """With processes, which pay for so many bytes, also those end that the killed one has begun."""
    for folder in ("in", "whole"):
        (tmp_path / folder).mkdir()
    for number in range(20):
        path = tmp_path / "in" / f"{number:02}"
        path.write_bytes(bytes([number]) * 900_000)
        serialpack.pack(path, tmp_path / "whole" / f"{number:02}.spk", threads=1)
    out = tmp_path / "out"

    def named() -> int:
        return len([*out.glob("*.spk")])

    for most in (1, 9):
        process = start("pack", *options, "-r", "in", "-o", "out", "--skip-existing")
        wait_for(lambda: named() >= most, "outputs")  # noqa: B023 (it is called at once)
        process.kill()
        assert process.wait(60) in (-signal.SIGKILL, 0)
    finish(start("pack", *options, "-r", "in", "-o", "out", "--skip-existing", "-q"), 0, most=0)
    assert left_in(out) == left_in(tmp_path / "whole")


@pytest.mark.parametrize(
    ("call", "number", "named"),
    [("fchmod", IN_GROUP + 2, IN_GROUP), ("link", IN_GROUP + 2, 2 * IN_GROUP)],
    ids=["while-written", "while-named"],
)
def test_ctrl_c_leaves_all_of_a_group_or_nothing(
    start: Start, batch: Path, tmp_path: Path, call: str, number: int, named: int
) -> None:
    env = ending(tmp_path / "site", call, number, signal.SIGINT)
    said = finish(start("pack", "-r", batch, "-o", "out", env=env), 130)
    assert said.startswith("stopped; at least ")
    assert said.endswith("; --skip-existing goes on from there\n")
    found = left_in(tmp_path / "out")
    assert len(found) == named
    assert not [name for name in found if TEMP in name]


@pytest.mark.parametrize(
    ("call", "number", "about", "named", "told"),
    [
        ("fchmod", 9, TEMP, 0, 0),
        ("link", 9, TEMP, FILES, 0),
        ("symlink", 1, "00.json", FILES, FILES),
    ],
    ids=["while-written", "while-named", "behind-them"],
)
def test_ctrl_c_says_how_much_of_an_archive_is_there(
    start: Start,
    batch: Path,
    tmp_path: Path,
    call: str,
    number: int,
    about: str,
    named: int,
    told: int,
) -> None:
    """Also where it is the only input: of its entries what has its name is whole."""
    (batch / "link").symlink_to("0/00.json")
    finish(start("pack", "-r", "in", "--archive", "-o", "x.spk"), 0, most=FILES + 2)
    env = ending(tmp_path / "site", call, number, signal.SIGINT, about=about)
    said = finish(start("unpack", "x.spk", "-o", "out", env=env), 130, most=21)
    last = said.splitlines()[-1]
    assert last.startswith(f"stopped; at least {told} unpacked, ")
    assert ", 0 B -> " not in last
    assert last.endswith("; --skip-existing goes on from there")
    assert len(found := left_in(tmp_path / "out" / "in")) == named
    assert found.items() <= left_in(batch).items()
    finish(start("unpack", "x.spk", "-o", "out", "--skip-existing"), 0, most=FILES + 2)
    assert left_in(tmp_path / "out" / "in") == left_in(batch)


def test_a_run_leaves_the_hidden_files_of_another_that_is_there(
    start: Start, batch: Path, tmp_path: Path
) -> None:
    """And removes those of one that is gone."""
    (tmp_path / "out" / "0").mkdir(parents=True)
    dead = tmp_path / "out" / "0" / f"{TEMP}0123abcd.tmp"
    dead.write_bytes(b"dead")
    with Output(tmp_path / "out" / "0" / "other") as alive:
        alive.write(b"alive")
        said = finish(start("pack", "-r", batch, "-o", "out"), 0, most=2)
        assert "out/0: removed 1 hidden file of a killed run" in said
        assert not dead.exists()
    assert (tmp_path / "out" / "0" / "other").read_bytes() == b"alive"


def test_what_was_done_costs_few_calls_a_file(start: Start, tmp_path: Path) -> None:
    """So that 10,000 finished files are passed over in half a second of processor time."""
    log, counts = tmp_path / "calls", []
    for count in (4, 24):
        folder, out = tmp_path / f"{count}", tmp_path / f"out{count}"
        folder.mkdir()
        out.mkdir()
        for name in map(str, range(count)):
            (folder / name).write_bytes(b"x" * 2000)
            serialpack.pack(folder / name, out / f"{name}.spk")
        command = ("pack", "-r", folder, "-o", out, "--skip-existing")
        said = finish(start(*command, before=traced("-o", str(log))), 0, most=30)
        assert f"{count} left as they were" in said
        counts.append(len(log.read_bytes().splitlines()))
    assert counts[1] - counts[0] <= 20 * 14


def test_what_fails_is_named_and_the_rest_go_on(start: Start, batch: Path, tmp_path: Path) -> None:
    """A source that vanished, a name too long with its ending, and a target that is full."""
    (batch / "gone.json").symlink_to("nothing")
    (batch / ("n" * 252)).write_text("1")
    (batch / "large").write_bytes(noise(200_000))
    said = finish(start("pack", "-r", batch, "-o", "out", before=limited("-f 200")), 1, most=4)
    assert "gone.json: cannot read: it is a link to nothing, where" in said
    assert "cannot write: file name too long; -o names the output of one file" in said
    assert "large.spk: cannot write: file too large" in said
    assert f"{FILES} packed, 3 failed" in said
    assert said.rstrip().endswith("; the failed ones are above")
    assert len(left_in(tmp_path / "out")) == FILES


def test_a_group_has_no_more_files_open_than_may_be(start: Start, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for number in range(300):
        (tmp_path / "in" / str(number)).write_text(f"{number}\n" * 3)
    few = limited("-n 64")
    for command in (
        ("pack", "-r", "in", "-o", "out"),
        ("unpack", "-r", "out", "-o", "again"),
        ("pack", "-r", "in", "--archive", "-o", "all.spk"),
        ("unpack", "all.spk", "-o", "entries"),
    ):
        finish(start(*command, before=few), 0, most=21)
    assert left_in(tmp_path / "again") == left_in(tmp_path / "in")
    assert left_in(tmp_path / "entries" / "in") == left_in(tmp_path / "in")


def test_a_source_that_grows_is_named_and_the_rest_go_on(
    start: Start, batch: Path, tmp_path: Path
) -> None:
    """It is written to while it is read, and has no output; so is one that only gets a new time.

    They are large: what is small is read at once.
    """
    for name in ("06", "12"):
        (batch / "0" / f"{name}.json").write_text("[" + "1, " * 6000 + "1]")
    env = injected(
        tmp_path / "site",
        HIDDEN + "real, count = os.open, [0]\n"
        "def opening(path, *args, **named):\n"
        f"    if {TEMP!r} in os.fspath(path):\n"
        "        count[0] += 1\n"
        "        if count[0] == 3:\n"
        "            with open('in/0/06.json', 'ab') as file:\n"
        "                file.write(b'{}')\n"
        "        if count[0] == 5:\n"
        "            os.utime('in/0/12.json')\n"
        "    return real(path, *args, **named)\n"
        "os.open = opening\n",
    )
    said = finish(start("pack", "--rm", "-r", "in", "-o", "out", env=env), 1, most=3)
    assert "in/0/06.json: changed while it was read" in said
    assert "in/0/12.json: changed while it was read" in said
    assert f"{FILES - 2} packed, 2 failed" in said
    assert set(left_in(batch)) == {"0/06.json", "0/12.json"}
    assert len(left_in(tmp_path / "out")) == FILES - 2


@pytest.mark.usefixtures("batch")
def test_what_may_not_be_read_is_named_and_the_rest_go_on(start: Start, tmp_path: Path) -> None:
    """A file and a folder; by a wrapper, as root reads whatever it likes."""
    env = injected(
        tmp_path / "site",
        "import builtins, os\n"
        "def forbid(module, name, path):\n"
        "    real = getattr(module, name)\n"
        "    def asked(given, *args, **named):\n"
        "        if given == path:\n"
        "            raise PermissionError(13, 'Permission denied', given)\n"
        "        return real(given, *args, **named)\n"
        "    setattr(module, name, asked)\n"
        "forbid(builtins, 'open', 'in/0/06.json')\n"
        "forbid(os, 'open', 'in/0/06.json')\n"
        "forbid(os, 'scandir', 'in/1')\n",
    )
    said = finish(start("pack", "-r", "in", "-o", "out", env=env), 1, most=18)
    assert "in/0/06.json: cannot read: permission denied" in said
    assert "in/1: cannot list: permission denied" in said
    assert f"{FILES * 2 // 3 - 1} packed, 2 failed" in said
    options = ("-o", "two", "--journal", "journal")
    said = finish(start("pack", "-r", "in/1", *options, env=env), 1, most=2)
    assert "in/1: cannot list: permission denied" in said
    assert "0 packed, 1 failed" in said
    assert '"source": "in/1", "error"' in (tmp_path / "journal").read_text()


def test_an_archive_is_gone_on_with(start: Start, batch: Path, tmp_path: Path) -> None:
    """Packed, and unpacked: killed in the middle, and run again, it ends as one that was not.

    Also an empty folder and a link are there again, and no hidden file stays.
    """
    (batch / "empty").mkdir(mode=0o750)
    (batch / "link").symlink_to("0/00.json")
    command = ("pack", "-r", "in", "--archive", "-o", "x.spk")
    env = ending(tmp_path / "site", "fchmod", 1, signal.SIGKILL)
    assert start(*command, env=env).wait(60) == -signal.SIGKILL
    said = finish(start(*command), 0, most=FILES + 2)
    assert ".: removed 1 hidden file of a killed run" in said
    env = ending(tmp_path / "site", "link", 9, signal.SIGKILL, before=False)
    assert start("unpack", "x.spk", "-o", "out", env=env).wait(60) == -signal.SIGKILL
    made = tmp_path / "out" / "in"
    assert 0 < len([name for name in left_in(made) if TEMP not in name]) < FILES
    if (made / "empty").exists():
        (made / "empty").chmod(0o700)
    said = finish(start("unpack", "x.spk", "-o", "out"), 1, most=FILES + 5)
    assert "x.spk: out/in/2: removed" in said
    said = finish(start("unpack", "x.spk", "-o", "out", "--skip-existing"), 0, most=FILES + 2)
    assert f"{FILES} files were there already, and left: the bytes are the same" in said
    assert left_in(made) == left_in(batch)
    assert (made / "empty").stat().st_mode & 0o777 == 0o750
    assert (made / "link").readlink() == Path("0/00.json")
    said = finish(start("unpack", "x.spk", "-o", "out"), 1, most=22)
    assert f": {FILES + 1 - 20} more outputs exist already; --skip-existing leaves" in said
    (made / "0" / "00.json").write_text("of another")
    said = finish(start("unpack", "x.spk", "-o", "out", "--skip-existing"), 1, most=4)
    assert "00.json: exists already" in said
    assert f"{FILES - 1} files were there already, and left" in said


def test_what_is_made_anew_removes_what_was_left(start: Start, batch: Path, tmp_path: Path) -> None:
    out = tmp_path / "out" / "0"
    out.mkdir(parents=True)
    (out / f"{TEMP}0123abcd.tmp").write_bytes(b"dead")
    said = finish(start("pack", "-r", batch, "-o", "out", "-f"), 0, most=2)
    assert "out/0: removed 1 hidden file of a killed run" in said
    assert len(left_in(tmp_path / "out")) == FILES
