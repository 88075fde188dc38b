"""The completions, in the real shells: what each offers for a line that is being typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from serialpack.codecs import CODECS
from serialpack.filters import FILTERS
from serialpack.formats import FORMATS
from serialpack.serializers import SERIALIZERS
from tests.docs.shells import Shell
from tools._facts import verbs

OPTIONS = {verb.name: {name for o in verb.options for name in o.typed} for verb in verbs()}
ZSTD = {f"zstd:{level}" for level in range(-7, 23)}
ZSTD_1 = {level for level in ZSTD if level.startswith("zstd:1")}
PACKED = {"a.spk", "b c.spk", "e:f.spk", "folder"}
EVERYTHING = PACKED | {"data.json", "x.spk.tmp"}

#: What is typed (``|``: the cursor) -> all that is offered.
OFFERS: dict[str, set[str]] = {
    "serialpack un": {"unpack"},
    "serialpack pack -s ": {"auto", *SERIALIZERS.names()},
    "serialpack pack --serializer ujs": {"ujson"},
    "serialpack pack -c ": {"auto", *CODECS.names()},
    "serialpack pack -c zst": {"zstd"},
    "serialpack pack -c zstd:": ZSTD,
    "serialpack pack -c zstd:1": ZSTD_1,
    "serialpack pack --codec zstd:1": ZSTD_1,
    "serialpack pack --codec=zst": {"--codec=zstd"},
    "serialpack pack --codec=zstd:1": {f"--codec={level}" for level in ZSTD_1},
    "serialpack pack -c bz2:": {f"bz2:{level}" for level in range(1, 10)},
    "serialpack pack -c snappy:": set(),
    "serialpack pack --filter ": set(FILTERS.names()),
    "serialpack pack --filter delta:": {"delta:1", "delta:2", "delta:4", "delta:8"},
    "serialpack pack --filter shuffle:4 --filter bit": {"bitshuffle"},
    "serialpack pack --effort ": set("123456789"),
    "serialpack pack -F ": {e.name for e in FORMATS.sources()},
    "serialpack inspect --from nd": {"ndjson"},
    "serialpack unpack -t nd": {"ndjson"},
    # Options: all of the verb's, after files, after the value of another, before a word.
    "serialpack pack -": OPTIONS["pack"],
    "serialpack unpack -": OPTIONS["unpack"],
    "serialpack inspect -": OPTIONS["inspect"],
    "serialpack pack data.json --exa": {"--exact"},
    "serialpack pack --codec zstd:3 -9 --ser": {"--serializer"},
    "serialpack pack --exa| data.json": {"--exact"},
    "serialpack pack -c zs| data.json": {"zstd"},
    # Files.
    "serialpack pack ": EVERYTHING,
    "serialpack inspect ": EVERYTHING,
    "serialpack pack -c zstd:3 d": {"data.json"},
    "serialpack unpack ": PACKED,
    "serialpack unpack b": {"b c.spk"},
    r"serialpack unpack b\ ": {"b c.spk"},
    "serialpack unpack 'b ": {"b c.spk"},
    "serialpack unpack folder/": {"folder/g.spk"},
    "serialpack unpack d": set(),
    "serialpack unpack --test -- ": PACKED,
    "serialpack unpack a.spk -o ": EVERYTHING,
    "serialpack pack --output=fo": {"--output=folder"},
    "serialpack pack --files-from da": {"data.json"},
    # Values that nobody can guess.
    "serialpack pack --meta ": set(),
    "serialpack inspect --head ": set(),
    "serialpack unpack --records ": set(),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with packed files and others, and names that shells must quote."""
    folder = tmp_path / "files"
    (folder / "folder").mkdir(parents=True)
    for name in (*(EVERYTHING - {"folder"}), "folder/g.spk", "folder/h.txt"):
        (folder / name).touch()
    return folder


@pytest.fixture(params=["bash", "zsh", "fish"])
def shell(request: pytest.FixtureRequest, tmp_path: Path) -> Shell:
    return Shell(request.param, tmp_path)


@pytest.mark.parametrize("line", OFFERS)
def test_offers(shell: Shell, line: str, folder: Path) -> None:
    """Just what can stand at the cursor is offered."""
    assert shell.offers(line, folder) == OFFERS[line]


def test_verbs(shell: Shell, folder: Path) -> None:
    """Every verb is offered first, and options of the program at most."""
    offered = shell.offers("serialpack ", folder)
    assert {word for word in offered if not word.startswith("-")} == set(OPTIONS)


@pytest.mark.parametrize("name", ["bash", "zsh"])
@pytest.mark.parametrize(
    ("typed", "arguments"),
    [
        ("serialpack unpack b", ["unpack", "b c.spk"]),
        ("serialpack unpack e", ["unpack", "e:f.spk"]),
        ("serialpack unpack e:", ["unpack", "e:f.spk"]),
        ("serialpack pack -c brotli:1", ["pack", "-c", "brotli:1"]),
        ("serialpack pack --codec=zst", ["pack", "--codec=zstd"]),
        ("serialpack pack --filter shuffle:6", ["pack", "--filter", "shuffle:64"]),
    ],
)
def test_arguments(
    name: str, typed: str, arguments: list[str], folder: Path, tmp_path: Path
) -> None:
    """What a tab puts in is what the program gets, colons and spaces included."""
    assert Shell(name, tmp_path).arguments(typed, folder) == arguments
