"""docs/measuring.md says what is so: its numbers are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from serialpack.bench import compare, material, recommend
from serialpack.bench.measuring import lab, object_trials, trials
from serialpack.bench.samples import SAMPLES
from serialpack.bench.schedules import search
from serialpack.units import format_size

PAGE = " ".join((Path(__file__).parents[2] / "docs/measuring.md").read_text("utf-8").split())


@pytest.mark.parametrize(
    "said",
    [
        f"until they took {trials.REPEAT:g} seconds together, {trials.MOST_RUNS} at most",
        *(f"`{name}`" for name, sample in SAMPLES.items() if sample.mode == "object"),
        f"`documents` {SAMPLES['documents'].table.runs}",
        f"`target-object` and `messages` {SAMPLES['messages'].table.runs}",
        f"{lab.MEMORY_SHARE:.0%}".replace("%", " %") + " of the memory that is free",
        f"{search.SAMPLING:.0%}".replace("%", " %") + " at most goes to looking",
        f"first gets {material.LOOK >> 10} KiB of the source",
        f"what is quick enough gets {material.SAMPLE >> 20} MiB",
        f"A source of up to {2 * material.SAMPLE >> 20} MiB is measured whole",
        f"takes less than {100 * search.ONE_SAMPLE:g} % of the budget",
        f"Of a file above {material.MOST_HELD >> 20} MiB a quarter",
        f"objects below {format_size(object_trials.LEAST_MEMORY).replace('.0', '')} in a sweep",
        f"less than 1/{recommend.SHRINKS:g} of it",
        f"a line of {recommend.LINE / 1e6:g} MB/s",
        f"{recommend.Weighing('size').line / 1e6:g} MB/s with `--prefer size`",
        f"{recommend.Weighing('speed').line / 1e9:g} GB/s with `--prefer speed`",
        f"by more than {100 * compare.LEAST:g} % and by more than twice the larger spread",
    ],
)
def test_number(said: str) -> None:
    assert said in PAGE


def test_steps() -> None:
    """All of them, in order, and no others."""
    rows = re.findall(r"\| (\w+) \| [^|]+ \|", PAGE.partition("| --- | --- |")[2])
    assert tuple(rows[: len(trials.STEPS)]) == trials.STEPS
    assert compare.SPREADS == 2
    assert SAMPLES["messages"].table.runs == SAMPLES["target-object"].table.runs
