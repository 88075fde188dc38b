"""Writes docs/peers.md, and the table of the README, from what converters do to treacherous values.

    python -m tools.peers                 some minutes: every value, every converter that is there
    python -m tools.peers --bin FOLDER    converters that are in this folder, before those on PATH
    python -m tools.peers --only jq       this converter anew, the others as they were; repeatable

How each converter is installed is in docs/peers.md; nothing here installs any. One that is not
there is named as absent. Results are kept in tests/docs/peers.json; tests hold the pages against
them, and them against what happens.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tools._marks import between
from tools._peer_everyday import EVERYDAY, EVERYDAY_PEERS
from tools._peer_tools import (
    OUTCOMES,
    PATIENCE,
    PEERS,
    Found,
    Outcome,
    Peer,
    find,
    outcomes,
    search_path,
)
from tools._peer_values import CASES, Case
from tools.fidelity import table

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "peers.md"
README = ROOT / "README.md"
RESULTS = ROOT / "tests" / "docs" / "peers.json"
EVERYDAY_RESULTS = ROOT / "tests" / "docs" / "everyday.json"

#: Outcome by target, of one value under one converter.
Tried = Mapping[str, Outcome]

_INTRO = f"""# The same values through other converters

Made by `python -m tools.peers`; tests hold serialpack's column against what happens, and those of
other converters where they are installed in the same version.

{len(CASES)} values go through each converter that reads their format, to every target that it
writes, with the options of the table below and no others. Each is in a record of its own, or in a
map, so that converters of tables take it too.

- *same*: what was there is in the output, by a strict reading of it (numbers are compared digit by
  digit as numbers, so 1.0 may become 1; the order of keys does not count; for YAML either version
  of the rules will do).
- *refused*: an exit code other than 0.
- *changed*: exit code 0, and other values, values from a broken source, or output that is not valid
  in its format.
- *crashed*: ended by a signal, or with a traceback or a panic.
- *hung*: not done after {PATIENCE} seconds.

An empty cell: the converter does not read the one format or write the other. Two words: the
targets differ. Some of these changes are what a manual says; here it only counts whether a script
that looks at the exit code learns of them.
"""

_EVERYDAY = """\
What people come for, each in the way of the tool's own manual. For a table, *same* is that the
same values stand in it: numbers and booleans by their text, maps and lists as columns of their keys
or as JSON text; nothing, or the word null, for null; nothing for empty text or an absent key. In
SQLite a column that is declared BOOLEAN holds booleans. XML is compared as xmltodict has it.

DuckDB reads and writes SQLite by an extension that it downloads, which was not tried; nor were
Miller and jq, with SQLite and XML.

"""


def key_of(case: Case) -> str:
    return f"{case.source}: {case.name}"


class Results:
    """What is known of every converter, as it is kept in the file of results."""

    def __init__(
        self, versions: dict[str, str], tried: dict[str, dict[str, Tried]], *, file: Path = RESULTS
    ) -> None:
        self.versions = versions
        self._tried = tried
        self._file = file
        #: Those of the other values, or of the conversions of every day.
        self._cases = EVERYDAY if file == EVERYDAY_RESULTS else CASES
        self._peers = EVERYDAY_PEERS if file == EVERYDAY_RESULTS else PEERS

    @classmethod
    def read(cls, file: Path = RESULTS) -> Results:
        if not file.exists():
            return cls({}, {}, file=file)
        kept: Any = json.loads(file.read_text("utf-8"))
        tried: dict[str, dict[str, Tried]] = {
            name: {
                value: {target: Outcome(*outcome) for target, outcome in targets.items()}
                for value, targets in values.items()
            }
            for name, values in kept["tried"].items()
        }
        return cls(kept["versions"], tried, file=file)

    def write(self) -> None:
        kept = {"versions": self.versions, "tried": self._tried}
        self._file.write_text(json.dumps(kept, indent=1, ensure_ascii=True) + "\n", "utf-8")

    def of(self, peer: Peer, case: Case) -> Tried:
        return self._tried.get(peer.name, {}).get(key_of(case), {})

    def add(self, found: Found, path: str) -> None:
        """Try every value now."""
        tried = {key_of(case): outcomes(found, case, path) for case in self._cases}
        self._tried[found.peer.name] = {value: what for value, what in tried.items() if what}
        self.versions[found.peer.name] = found.version

    def forget(self, peer: Peer) -> None:
        self._tried.pop(peer.name, None)
        self.versions.pop(peer.name, None)

    def there(self) -> list[Peer]:
        return [peer for peer in self._peers if peer.name in self.versions]


def worst(tried: Tried) -> str | None:
    """The worst of what became of a value under several targets."""
    return max((o.what for o in tried.values()), key=OUTCOMES.index, default=None)


def _cell(tried: Tried) -> str:
    found = sorted({outcome.what for outcome in tried.values()}, key=OUTCOMES.index)
    return ", ".join(w if w in ("same", "refused") else f"**{w}**" for w in found)


def summary(results: Results) -> str:
    """The README's table: how many values each converter keeps; the worst of its targets counts."""
    rows = []
    for peer in results.there():
        counts = Counter(worst(results.of(peer, case)) for case in CASES)
        total = sum(counts[what] for what in OUTCOMES)
        cells = [
            f"{peer.name} {results.versions[peer.name]}",
            total,
            *(counts[w] for w in OUTCOMES),
        ]
        rows.append(f"| {' | '.join(map(str, cells))} |")
    return table(("converter", "values", *OUTCOMES), rows)


def page(results: Results, everyday: Results) -> str:
    """All of docs/peers.md."""
    parts = [
        _INTRO,
        "\n## Everyday conversions\n\n",
        _EVERYDAY,
        _values_table(everyday, EVERYDAY),
        "\nWhat was told, or came instead:\n\n",
        _changes(everyday, EVERYDAY),
        "\nRun as:\n\n",
        _converters(everyday, EVERYDAY_PEERS, EVERYDAY),
        "\n## Every value\n\n",
        _values_table(results, CASES),
        "\n## What came instead\n\nThe target is named where others of it came out right.\n\n",
        _changes(results, CASES),
        "\n## The converters\n\n",
        _converters(results, PEERS, CASES),
    ]
    absent = [peer.name for peer in PEERS if peer.name not in results.versions]
    if absent:
        parts.append(f"\nAbsent when this was made: {', '.join(absent)}.\n")
    return "".join(parts)


def _values_table(results: Results, cases: Sequence[Case]) -> str:
    peers = results.there()
    rows = []
    for case in cases:
        targets = " ".join(case.targets)
        cells = [case.name, case.source, targets, *(_cell(results.of(p, case)) for p in peers)]
        rows.append(f"| {' | '.join(cells)} |")
    return table(("value", "from", "to", *(peer.name for peer in peers)), rows)


def _changes(results: Results, cases: Sequence[Case]) -> str:
    rows = []
    for case in cases:
        about = f"{key_of(case)}: {case.about}" if case.about else key_of(case)
        for peer in results.there():
            for said, targets in _said(results.of(peer, case)).items():
                name = f"{peer.name} to {' and '.join(targets)}"
                rows.append(f"| {_safe(about)} | {name} | {_safe(said)} |")
                about = ""
    return table(("value", "converter", "what came of it"), rows)


def _said(tried: Tried) -> dict[str, list[str]]:
    """The words about what is neither same nor refused, each with its targets."""
    found: dict[str, list[str]] = {}
    for target, outcome in tried.items():
        if outcome.what not in ("same", "refused"):
            words = outcome.said if outcome.what == "changed" else f"{outcome.what} {outcome.said}"
            found.setdefault(words.strip(), []).append(target)
    return found


def _safe(text: str) -> str:
    """Text in a cell of a table."""
    return text.replace("|", "\\|").replace("<", "&lt;")


def _converters(results: Results, peers: Sequence[Peer], cases: Sequence[Case]) -> str:
    rows = []
    for peer in peers:
        version = results.versions.get(peer.name, "absent: not tried")
        example = _example(peer, cases).replace("|", "\\|")
        rows.append(f"| {peer.name} | {version} | {peer.install} | `{example}` |")
    return table(("converter", "version", "installed by", "run as"), rows)


def _example(peer: Peer, cases: Sequence[Case]) -> str:
    """The command line of the first conversion that a peer knows."""
    for case in cases:
        for target in case.targets:
            file = f"value.{case.source}"
            line = peer.line(case.source, target, file)
            if line is not None:
                return shlex.join([peer.commands[0], *line]) + (f" < {file}" if peer.feed else "")
    raise ValueError(f"{peer.name} converts no value of these")


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--bin",
        metavar="FOLDER",
        default=os.environ.get("SERIALPACK_PEERS"),
        help="where converters are looked for first (default: $SERIALPACK_PEERS)",
    )
    names = [*dict.fromkeys(peer.name for peer in (*PEERS, *EVERYDAY_PEERS))]
    parser.add_argument("--only", action="append", choices=names, metavar="CONVERTER")
    parser.add_argument("--everyday", action="store_true", help="the everyday conversions only")
    chosen = parser.parse_args(argv)
    results, everyday = Results.read(), Results.read(EVERYDAY_RESULTS)
    for some, peers in ((results, PEERS), (everyday, EVERYDAY_PEERS)):
        if some is results and chosen.everyday:
            continue
        add(some, [peer for peer in peers if peer.name in (chosen.only or names)], chosen.bin)
        some.write()
    PAGE.write_text(page(results, everyday), "utf-8")
    README.write_text(between(README.read_text("utf-8"), "peers", summary(results)), "utf-8")


def add(results: Results, peers: Iterable[Peer], folder: str | None) -> None:
    """Try all values with each of ``peers``; what is known of an absent one is forgotten."""
    path = search_path(folder)
    for peer in peers:
        found = find(peer, path)
        if found is None:
            print(f"{peer.name} is absent", file=sys.stderr)
            results.forget(peer)
        else:
            print(f"{peer.name} {found.version}", file=sys.stderr, flush=True)
            results.add(found, path)


if __name__ == "__main__":
    main()
