"""The converters that serialpack is put beside, and what one of them makes of one value."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from tools._peer_values import Case

#: Where those leave a file that write no other: it is taken for what they print.
MADE = "made.sqlite"

#: How long one conversion of at most 3 MB may take before it counts as hung, in seconds.
PATIENCE = 30

#: What a converter says that did not refuse but break down.
_BROKE_DOWN = re.compile(
    r"^(Traceback \(most recent call last\))|^(panic: |fatal error: |thread '.*' .*panicked)",
    re.MULTILINE,
)

#: ``carried`` is changed, but told: how much, and as what.
OUTCOMES = ("same", "carried", "refused", "changed", "crashed", "hung")


class Outcome(NamedTuple):
    """``what``: one of OUTCOMES. ``said``: what came instead, or how it crashed."""

    what: str
    said: str = ""


class Peer(NamedTuple):
    """A converter.

    ``commands``: names that it may be installed under; ``mark`` is in the version of the right
    one, whose number is its first group. ``line`` gives the words behind the command, None for
    formats that it does not know. ``feed``: it reads its standard input.
    """

    name: str
    commands: tuple[str, ...]
    version: tuple[str, ...]
    mark: str
    install: str
    line: Callable[[str, str, str], list[str] | None]
    feed: bool = False


class Found(NamedTuple):
    """A peer that is there."""

    peer: Peer
    command: str
    version: str


def _known(names: str, both: str = "") -> Callable[[str, str], bool]:
    """Whether a peer reads and writes formats: all ``names`` to all (``both``: or to those)."""
    reads = names.split()
    writes = (both or names).split()
    return lambda source, target: source in reads and target in writes


def _of(
    known: Callable[[str, str], bool], make: Callable[[str, str, str], list[str]]
) -> Callable[[str, str, str], list[str] | None]:
    return lambda s, t, file: make(s, t, file) if known(s, t) else None


_MILLER = {"json": "json", "ndjson": "jsonl", "csv": "csv"}
_SQLITE = {"json": "--json-cols", "ndjson": "--nl", "csv": "--csv"}
_FQ = {"msgpack": "torepr", "cbor": "torepr"}
_DUCKDB_READ = {
    "json": "read_json('{}')",
    "ndjson": "read_json('{}', format='newline_delimited')",
    "csv": "read_csv('{}')",
}
_DUCKDB_WRITE = {"json": "JSON, ARRAY true", "ndjson": "JSON", "csv": "CSV"}


def _duckdb(source: str, target: str, file: str) -> list[str]:
    table = _DUCKDB_READ[source].format(file)
    form = _DUCKDB_WRITE[target]
    return ["-c", f"COPY (FROM {table}) TO '/dev/stdout' (FORMAT {form})"]


def _sqlite(source: str, target: str, file: str) -> list[str]:
    what = f"{file}:nl" if source == "ndjson" else file
    return ["memory", what, "select * from value", _SQLITE[target]]


def _msgpack_tools(reading: str, writing: str) -> Callable[[str, str, str], list[str] | None]:
    return lambda s, t, file: ["-i", file] if (s, t) == (reading, writing) else None


_BUILT = (
    "built from its source, [ludocode/msgpack-tools](https://github.com/ludocode/msgpack-tools)"
)

SERIALPACK = Peer(
    name="serialpack",
    commands=("serialpack",),
    version=("--version",),
    mark=r"serialpack[^\d]*(\S+)",
    install="`pip install 'serialpack[all]'`",
    line=lambda s, t, file: ["unpack", "--from", s, "--to", t, file, "-o", "-"],
)

PEERS: tuple[Peer, ...] = (
    SERIALPACK,
    Peer(
        name="remarshal",
        commands=("remarshal",),
        version=("--version",),
        mark=r"^(\d\S*)",
        install="`pip install remarshal`",
        line=_of(
            _known("json yaml msgpack cbor toml"), lambda s, t, file: ["-f", s, "-t", t, file]
        ),
    ),
    Peer(
        name="json2msgpack",
        commands=("json2msgpack",),
        version=("-v",),
        mark=r"version (\S+) -- .*msgpack-tools",
        install=_BUILT,
        line=_msgpack_tools("json", "msgpack"),
    ),
    Peer(
        name="msgpack2json",
        commands=("msgpack2json",),
        version=("-v",),
        mark=r"version (\S+) -- .*msgpack-tools",
        install=_BUILT,
        line=_msgpack_tools("msgpack", "json"),
    ),
    Peer(
        name="jq",
        commands=("jq",),
        version=("--version",),
        mark=r"^jq-(\S+)",
        install="built from its source, [jqlang/jq](https://github.com/jqlang/jq), or Debian's",
        line=_of(_known("json ndjson"), lambda _s, _t, file: ["-c", ".", file]),
    ),
    Peer(
        name="jaq",
        commands=("jaq",),
        version=("--version",),
        mark=r"^jaq (\S+)",
        install="`cargo install jaq`",
        line=_of(
            _known("json ndjson yaml cbor toml"),
            lambda s, t, file: ["-c", "--from", _lines(s), "--to", _lines(t), ".", file],
        ),
    ),
    Peer(
        name="yq (Go)",
        commands=("yq", "yq-go"),
        version=("--version",),
        mark=r"mikefarah.* version v(\S+)",
        install="`go install github.com/mikefarah/yq/v4@v4.50.1`",
        line=_of(
            _known("json ndjson yaml toml csv"),
            lambda s, t, file: ["-p", _lines(s), "-o", _lines(t), "-I0", ".", file],
        ),
    ),
    Peer(
        name="yq (Python)",
        commands=("yq", "yq-python"),
        version=("--version",),
        mark=r"^yq (\d\S*)",
        install="`pip install yq`",
        line=_of(_known("yaml", "json"), lambda _s, _t, file: ["-c", ".", file]),
    ),
    Peer(
        name="dasel",
        commands=("dasel",),
        version=("version",),
        mark=r"v(\d+\.\d+\S*)",
        install="`go install github.com/tomwright/dasel/v3/cmd/dasel@latest`",
        line=_of(_known("json yaml toml csv"), lambda s, t, _: ["query", "-i", s, "-o", t]),
        feed=True,
    ),
    Peer(
        name="Miller",
        commands=("mlr",),
        version=("--version",),
        mark=r"^mlr (\S+)",
        install="Debian's `miller`",
        line=_of(
            _known("json ndjson csv"),
            lambda s, t, file: [f"--i{_MILLER[s]}", f"--o{_MILLER[t]}", "cat", file],
        ),
    ),
    Peer(
        name="fq",
        commands=("fq",),
        version=("--version",),
        mark=r"^(\d\S*)",
        install="Debian's `fq`",
        line=_of(
            _known("json msgpack cbor yaml toml", "json"),
            lambda s, _t, file: ["-d", s, "-c", _FQ.get(s, "."), file],
        ),
    ),
    Peer(
        name="DuckDB",
        commands=("duckdb",),
        version=("--version",),
        mark=r"v(\d\S*)",
        install="`pip install duckdb-cli`",
        line=_of(_known("json ndjson csv"), _duckdb),
    ),
    Peer(
        name="sqlite-utils",
        commands=("sqlite-utils",),
        version=("--version",),
        mark=r"version (\S+)",
        install="`pip install sqlite-utils`",
        line=_of(_known("json ndjson csv"), _sqlite),
    ),
)


def _lines(name: str) -> str:
    """What those that read several JSON texts anyway call NDJSON."""
    return "json" if name == "ndjson" else name


def search_path(folder: str | None) -> str:
    """The places of commands: ``folder``, that of this Python, those of the user."""
    places = [folder, str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]
    return os.pathsep.join(place for place in places if place)


def find(peer: Peer, path: str) -> Found | None:
    """The first command that is this peer; None where there is none."""
    for folder in path.split(os.pathsep):
        for name in peer.commands:
            command = shutil.which(name, path=folder)
            if command and (version := _version(peer, command, path)):
                return Found(peer, command, version)
    return None


def _version(peer: Peer, command: str, path: str) -> str | None:
    done = subprocess.run(
        [command, *peer.version],
        capture_output=True,
        text=True,
        env=_environment(path),
        stdin=subprocess.DEVNULL,
        check=False,
    )
    match = re.search(peer.mark, done.stdout + done.stderr, re.MULTILINE)
    return match[1] if match else None


def _environment(path: str) -> Mapping[str, str]:
    return {**os.environ, "PATH": path, "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}


def outcomes(found: Found, case: Case, path: str) -> dict[str, Outcome]:
    """What becomes of a value under each target that the peer writes."""
    tried = {}
    for target in case.targets:
        line = found.peer.line(case.source, target, f"value.{case.source}")
        if line is not None:
            tried[target] = judged(converted(found, line, case, path), case, target)
    return tried


def converted(
    found: Found, line: list[str], case: Case, path: str
) -> subprocess.CompletedProcess[bytes] | None:
    """A command that has ended, in a folder that holds the value; None if it did not in time."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, f"value.{case.source}")
        file.write_bytes(case.data())
        with (file if found.peer.feed else Path(os.devnull)).open("rb") as feed:
            try:
                done = subprocess.run(
                    [found.command, *line],
                    cwd=folder,
                    env=_environment(path),
                    stdin=feed,
                    capture_output=True,
                    timeout=PATIENCE,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                return None
        made = Path(folder, MADE)
        if made.exists():
            done.stdout = made.read_bytes()
        return done


def judged(done: subprocess.CompletedProcess[bytes] | None, case: Case, target: str) -> Outcome:
    """What a command that ``converted`` has run made of the value."""
    if done is None:
        return Outcome("hung")
    if done.returncode < 0:
        return Outcome("crashed", f"by {signal.Signals(-done.returncode).name}")
    if done.returncode:
        broke = _BROKE_DOWN.search(done.stderr.decode(errors="replace"))
        if broke:
            return Outcome("crashed", "with a traceback" if broke[1] else "with a panic")
        return Outcome("refused")
    wrong = case.wrong(target, done.stdout)
    if wrong is None:
        return Outcome("same")
    return Outcome("carried" if b" carried: " in done.stderr else "changed", wrong)
