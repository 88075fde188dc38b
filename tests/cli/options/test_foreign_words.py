"""Words where other programs have them: a second name for the output, a format behind -f."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.told import lines


@pytest.mark.parametrize(
    ("call", "meant", "code"),
    [
        ("unpack a.json b.csv", "unpack a.json -o b.csv", 3),
        ("unpack a.json --to csv b.csv", "unpack a.json --to csv -o b.csv", 1),
        ("pack a.json b.spk", "pack a.json -o b.spk", 1),
        ("unpack a.json -f json -t csv", "unpack a.json -F json -t csv", 1),
    ],
)
def test_a_word_that_is_no_file_is_an_output_or_a_format(
    run: Run, tmp_path: Path, call: str, meant: str, code: int
) -> None:
    """It was told to be absent, and no more."""
    (tmp_path / "a.json").write_bytes(b'[{"a":1}]')
    last = lines(run(*shlex.split(call), code=code).stderr)[-1]
    assert last.endswith(f"cannot read: no such file or directory; serialpack {meant}")
    (tmp_path / "a.csv").unlink(missing_ok=True)
    run(*shlex.split(meant))
    (line,) = lines(run("unpack", "b.json", "c.csv", code=1).stderr)[1:]
    assert line.endswith("c.csv: cannot read: no such file or directory")  # nor is the first


def test_delimiters_have_names(run: Run, tmp_path: Path) -> None:
    """Only tab had one, while csv:semicolon is a format."""
    (tmp_path / "a.csv").write_bytes(b"a;b\n1;2\n")
    run("unpack", "a.csv", "--delimiter", "semicolon", "--to", "csv", "-o", "b.csv")
    run("unpack", "a.csv", "--out-delimiter", "pipe", "-o", "c.csv")
    assert (tmp_path / "c.csv").read_bytes() == b"a|b\n1|2\n"
    (line,) = lines(run("unpack", "a.csv", "--out-delimiter", "tab", "-o", "d.csv", code=2).stderr)
    assert line.endswith("is not written; --to tsv writes it")


def test_a_container_that_is_called_as_another_file_is_told(run: Run, tmp_path: Path) -> None:
    """It was written without a word, and Parquet's readers had to say what is wrong."""
    (tmp_path / "a.csv").write_bytes(b"a,b\n1,2\n")
    *_, line = lines(run("pack", "a.csv", "-o", "b.parquet").stderr)
    is_one = "  b.parquet is a container; serialpack "
    assert line.startswith(is_one)
    run(*shlex.split(line.removeprefix(is_one).removesuffix(" converts")))
    assert (tmp_path / "b.parquet").read_bytes().startswith(b"PAR1")
    (tmp_path / "-x").write_bytes(b"a: 1\n")  # the command took it for options, and for no YAML
    *_, line = lines(run("pack", "-F", "yaml", "-o", "c.json", "--", "-x").stderr)
    run(*shlex.split(line.partition("; serialpack ")[2].removesuffix(" converts")))
    assert (tmp_path / "c.json").read_bytes() == b'{"a":1}\n'
    *_, line = lines(run("pack", "a.csv", "-o", "b.csv.gz").stderr)
    assert line == "  b.csv.gz is a container, whatever its name says"
    for name in ("b.zst", "c.spk", "c"):  # the first is what any zstd tool reads
        assert len(lines(run("pack", "a.csv", "-o", name).stderr)) == 1


def test_a_word_of_a_list_was_not_typed(run: Run) -> None:
    """What was meant by the word before it was said, which was any."""
    done = run("unpack", "--files-from", "-", "-f", stdin=b"json\n", code=1)
    assert b"cannot read: no such file or directory\n" in done.stderr
