"""``--dry-run``: what it says is what is then done."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.told import needs_posix, not_root
from tests.injected import powerless


@pytest.fixture
def archive(run: Run, tmp_path: Path) -> Path:
    """Of two files in a folder, which are there, too."""
    for name in ("a", "b"):
        path = tmp_path / "in" / f"{name}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps([{"name": name}]))
    run("pack", "-r", "in", "--archive", "-o", "x.spk")
    return tmp_path / "x.spk"


def there(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([], 1, "in/a.json exists already, and 1 more output; --skip-existing leaves"),
        (["-f"], 0, "would unpack the entries of x.spk below ."),
        (["--skip-existing"], 0, "would unpack the entries of x.spk below ."),
        (["--include", "b.json"], 1, "in/b.json exists already; --skip-existing leaves"),
        (["--include", "c.json"], 2, "no entry fits the globs"),
        (["--rm", "-f"], 0, "would remove x.spk"),
    ],
)
def test_a_plan_for_an_archive_ends_as_unpacking_it_does(
    run: Run, archive: Path, tmp_path: Path, words: list[str], code: int, said: str
) -> None:
    """It knew nothing of outputs that exist, nor of globs that fit nothing."""
    before = there(tmp_path)
    plan = run("unpack", "x.spk", "-o", ".", *words, "--dry-run", code=code).stderr.decode()
    assert said in plan
    assert there(tmp_path) == before
    run("unpack", "x.spk", "-o", ".", *words, code=code)
    assert archive.exists() == ("--rm" not in words)


def test_a_plan_names_what_is_no_container(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.json.spk").write_text("[1]")
    plan = run("unpack", "a.json.spk", "--dry-run", code=3)
    done = run("unpack", "a.json.spk", code=3)
    assert plan.stderr == done.stderr != b""


def test_a_plan_of_an_archive_says_how_files_are_kept(run: Run, tmp_path: Path) -> None:
    """It named chains for files that share a block, which that does not have; and an archive of
    nothing was fine."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.json").write_text("[1]")
    (tmp_path / "in/b").write_bytes(b"data\0" * (1 << 20))
    pack = ("pack", "-r", "in", "--archive", "-o", "a.spk", "--dry-run")
    assert run(*pack).stderr.decode().splitlines() == [
        "would pack in into a.spk as in, as it is",
        "would pack in/a.json into a.spk as in/a.json, in a block of files of its format",
        "would pack in/b into a.spk as in/b, raw+zstd:3",
    ]
    said = run(*pack, "--include", "*.csv", code=2).stderr
    assert b"a.spk: an archive has at least one entry\n" in said


@needs_posix
def test_a_plan_knows_which_names_are_too_long(run: Run, tmp_path: Path) -> None:
    """It said that they would be packed."""
    (tmp_path / "in/x").mkdir(parents=True)
    for name in ("a", "b" * 252):
        (tmp_path / "in/x" / name).write_bytes(b"[1]")
    for more in (("--dry-run",), ()):
        said = run("pack", "-r", "in", "-o", "out", *more, code=1).stderr.decode()
        assert "cannot write: file name too long; -o names the output of one file" in said
        assert ", and --archive takes such names as they are\n" in said
        assert said.count("in/x/") == 1
    run("pack", "-r", "in", "--archive", "-o", "all.spk")


@pytest.mark.usefixtures("archive")
@needs_posix
@not_root
def test_a_plan_knows_where_nothing_is_written(run: Run, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full").chmod(0o500)
    env = powerless(tmp_path / "site")
    for words in (("pack", "-r", "in"), ("unpack", "x.spk")):
        plan = run(*words, "-o", "full/to", "--dry-run", env=env, code=1).stderr.decode()
        assert plan.endswith(": cannot write: permission denied\n")
        run(*words, "-o", "full/to", env=env, code=1)


def test_a_plan_says_which_sources_would_be_removed(run: Run, archive: Path) -> None:
    assert archive.exists()
    said = run("pack", "-r", "in", "-o", "out", "--rm", "--dry-run").stderr.decode()
    assert said.splitlines()[1::2] == ["would remove in/a.json", "would remove in/b.json"]


def test_a_journal_counts_no_folders_and_links(run: Run, archive: Path, tmp_path: Path) -> None:
    """They are entries of an archive, and no files: the line at the end counts none either."""
    (tmp_path / "in" / "link").symlink_to("a.json")
    run("pack", "-r", "in", "--archive", "-f", "-o", archive, "--journal", "j")
    run("unpack", archive, "-o", "out", "--journal", "j")
    found = json.loads(run("inspect", "--json", "j").stdout)
    assert found["files"] == 4
    assert set(found["formats"]) == {"json"}
