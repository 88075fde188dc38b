"""What ``pack`` chooses for a file at an effort, so that it is measured as that packs: cut as auto
cuts it, and with the time in which auto looks at the file."""

from __future__ import annotations

import io
from time import perf_counter

from serialpack.api import opened_source
from serialpack.auto.choice import Choice, choose
from serialpack.bench.material import Material, Subject
from serialpack.bench.measuring.trials import Figures
from serialpack.pipeline.packing import Packing
from serialpack.pipeline.settle import settle


def choice_for(subject: Subject, material: Material, effort: int) -> tuple[Choice, float]:
    """What ``pack`` chooses for the file at an effort, and the seconds that takes it. FileError."""
    # Of what came through a pipe, as of a built-in sample, only the front can be looked at.
    named = subject.path and subject.name is not None and subject.records is None
    with opened_source(subject.path if named else io.BytesIO(material.data)) as source:
        since = perf_counter()
        found = settle(choose(effort=effort), material.format, source.peek, source)
        return found, perf_counter() - since


def chosen_packing(packing: Packing, choice: Choice) -> Packing:
    """``packing``, as where auto made this ``choice`` for the file."""
    return packing._replace(
        min_saving=choice.min_saving,
        why=choice.reason,
        split=choice.split,
    )


def looked_for(found: Figures, seconds: float) -> Figures:
    """``found``, to which comes the time in which auto looked at the file: it is of packing, and in
    the step that it is for."""
    steps, means = found.steps, found.means or found.steps
    return found._replace(
        pack=found.pack + seconds,
        pack_mean=found.pack_mean + seconds,
        steps={**steps, "compress": steps["compress"] + seconds},
        means={**means, "compress": means["compress"] + seconds},
    )
