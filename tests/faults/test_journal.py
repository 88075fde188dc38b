"""When the lines of a journal are on the disk."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.faults.conftest import Start, finish
from tests.faults.disk import injecting
from tests.injected import injected

pytestmark = pytest.mark.skipif(os.name != "posix", reason="descriptors of POSIX")

#: So many files, in groups of six (``cli.files.batch``).
FILES = 24

#: Notes when the journal is brought to disk (``s``), and when a source is removed (``u``).
_ORDER = """
import os
sync, unlink, journal = os.fsync, os.unlink, os.path.realpath("journal")
def note(what):
    with open("order", "a") as file:
        file.write(what)
def fsync(fd):
    same = os.path.exists(journal) and os.path.samestat(os.fstat(fd), os.stat(journal))
    sync(fd)
    note("s" * same)
def unlinked(path, *args, **named):
    unlink(path, *args, **named)
    note("u" * os.fspath(path).endswith(".json"))
os.fsync, os.unlink = fsync, unlinked
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    for number in range(FILES):
        (tmp_path / "in" / f"{number:02}.json").write_text(f'{{"number": {number}}}\n')
    return tmp_path


@pytest.mark.parametrize(
    ("options", "order"),
    [(["-o", "out"], "suuuuuu" * 4 + "s"), (["--archive", "-o", "x.spk"], f"s{'u' * FILES}s")],
    ids=["groups", "archive"],
)
def test_its_lines_are_on_the_disk_before_sources_are_removed_once_a_group(
    start: Start, folder: Path, options: list[str], order: str
) -> None:
    """A power cut left sources removed whose lines were not there."""
    command = ("pack", "-r", "in", "--rm", "--journal", "journal", "-j", "1", *options)
    finish(start(*command, env=injected(folder / "site", _ORDER)), 0, most=2)
    assert (folder / "order").read_text() == order
    assert (folder / "journal").read_text().count('"source": "in/') == FILES


def test_it_says_of_no_archive_what_does_not_come_to_be(start: Start, folder: Path) -> None:
    """Its entries were there, as packed, before it had its name; and of a pipe it waited for what
    that held."""
    code = (
        "import os\ndef full(fd): raise OSError(28, 'No space left on device')\nos.fsync = full\n"
    )
    command = ("pack", "-r", "in", "--archive", "--journal", "/dev/stdout", "-o", "x.spk")
    process = start(*command, env=injected(folder / "site", code))
    told, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert [sorted(json.loads(line))[0] for line in told.splitlines()] == ["begun", "error"]


def test_that_it_cannot_be_brought_to_disk_is_said(start: Start, folder: Path) -> None:
    """It was passed over."""
    (folder / "journal").touch()
    strace = injecting("fsync", "error=EIO", "-P", str(folder / "journal"))
    command = ("pack", "-r", "in", "--journal", "journal", "-o", "out")
    said = finish(start(*command, before=strace), 1, most=2)
    assert "journal: cannot bring to disk: input/output error; what follows is not in it" in said
    assert f"{FILES} packed" in said
