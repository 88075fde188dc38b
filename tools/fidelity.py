"""Writes docs/fidelity.md, and the table of the README, from what every serializer really does.

    python -m tools.fidelity          some minutes: every value, every suite, every serializer
    python -m tools.fidelity --quick  leaves the rows of the suites as they are

The suites are in the folder that SERIALPACK_DATA names, or beside the repository as for the tests;
without it their rows stay as they are. Tests hold each row against what happens.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from serialpack.values.kinds import KINDS
from tests.fidelity.measure import WAYS, Outcome, class_of, is_default, outcomes, spellings
from tests.fidelity.suites import SUITES, Sample, counted
from tests.fidelity.values import CASES
from tools._marks import between

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "fidelity.md"
README = ROOT / "README.md"

#: Outcomes of all values under one serializer, one list for each way.
Tried = Mapping[str, Sequence[Outcome]]

_INTRO = f"""# What each serializer keeps

Made by `python -m tools.fidelity`; the tests hold every row against what happens.

{len(CASES)} values, from `null` to a container that holds itself, go through every serializer in
two ways: `serialpack.dumps` and `loads`, and `pack` and `unpack` of a file. What comes back is
compared strictly: types, order of keys, every bit of a float, attributes of objects, and for pickle
and marshal which containers are one and the same. Either it is the same, or the value is refused
with its path. *Changed* and *crashed* must be 0. The values are in `tests/fidelity/values.py`.
"""

_SUITES = """
## Conformance suites

Each file is packed with the serializer and unpacked again. *Exact* and *same values*: what came
back. *Refused*: the values cannot be held, and the refusal says which. *Called invalid*: said to
break the rules of its format. No valid file should be called invalid, no invalid one be kept.
"""


def summary_row(spelling: str, tried: Tried) -> str:
    """One line of the README's table: how many values were same, refused, changed, crashed."""
    counts = [
        [sum(outcome.what == what for outcome in tried[way]) for way in WAYS]
        for what in ("same", "refused", "changed", "crashed")
    ]
    cells = [str(a) if a == b else f"{a} / {b}" for a, b in counts]
    return f"| {spelling} | " + " | ".join(cells) + " |"


def kind_row(spelling: str, tried: Tried) -> str:
    """One line of the table of kinds: how many values of each kind the API keeps."""
    cells = []
    for kind in tested_kinds():
        found = [o for c, o in zip(CASES, tried["api"], strict=True) if c.kind == kind]
        kept = sum(outcome.what == "same" for outcome in found)
        cells.append("all" if kept == len(found) else f"{kept} of {len(found)}" if kept else "-")
    return f"| {spelling} | " + " | ".join(cells) + " |"


def tested_kinds() -> list[str]:
    there = {case.kind for case in CASES}
    return [kind for kind in KINDS if kind in there]


def suite_row(spelling: str, samples: list[Sample]) -> str:
    """One line of a suite's table."""
    found = counted(samples, spelling)

    def of(valid: bool, *what: str) -> int:
        return sum(n for (v, w), n in found.items() if v is valid and w in what)

    cells = [
        *(of(True, "exact"), of(True, "same"), of(True, "refused"), of(True, "invalid")),
        *(of(False, "invalid"), of(False, "refused"), of(False, "exact", "same")),
        sum(n for (_, w), n in found.items() if w == "changed"),
    ]
    return f"| {spelling} | " + " | ".join(map(str, cells)) + " |"


def table(heads: Iterable[str], rows: Iterable[str]) -> str:
    names = list(heads)
    lines = [f"| {' | '.join(names)} |", "|" + " --- |" * len(names), *rows]
    return "\n".join(lines) + "\n"


def summary_table(tried: Mapping[str, Tried]) -> str:
    rows = (summary_row(spelling, found) for spelling, found in tried.items())
    return table(("serializer", "same", "refused", "changed", "crashed"), rows)


def suites_text(data: Path) -> str:
    """The tables of all suites."""
    parts = [_SUITES]
    heads = (
        *("serializer", "valid: exact", "same values", "refused", "called invalid"),
        *("invalid: called so", "refused", "kept", "changed"),
    )
    for name, read in SUITES.items():
        samples = list(read(data))
        valid = sum(s.valid is True for s in samples)
        invalid = sum(s.valid is False for s in samples)
        rows = [suite_row(s, samples) for s in tried_with(samples)]
        parts += [
            f"\n### {name}\n\n{valid} valid files, {invalid} invalid.\n\n",
            table(heads, rows),
        ]
    return "".join(parts)


def tried_with(samples: list[Sample]) -> list[str]:
    """The serializers that people would pack such files with."""
    is_java = samples[0].format == "java"
    found = [s for s in spellings() if is_default(s)]
    return [s for s in found if is_java or class_of(s).stored_format != "java"]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="leave the suites as they are")
    quick = parser.parse_args().quick
    data = Path(os.environ.get("SERIALPACK_DATA", ROOT.parent / "shared" / "data"))
    tried = {spelling: outcomes(spelling) for spelling in spellings()}
    before = PAGE.read_text("utf-8") if PAGE.exists() else ""
    suites = before[before.find(_SUITES) :] if _SUITES in before else ""
    if data.is_dir() and not quick:
        suites = suites_text(data)
    kinds = table(("serializer", *tested_kinds()), (kind_row(s, t) for s, t in tried.items()))
    summary = summary_table(tried)
    page = f"{_INTRO}\n## All values\n\n{summary}\n## By kind\n\n{kinds}{suites}"
    PAGE.write_text(page, "utf-8")
    README.write_text(between(README.read_text("utf-8"), "fidelity", summary), "utf-8")


if __name__ == "__main__":
    main()
