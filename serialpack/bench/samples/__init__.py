"""Built-in samples: the data of known benchmarks of serializers and codecs, of any size N.

Enter at ``parse_sample``. A sample is written ``NAME`` or ``NAME:N``; what N counts is the ``unit``
of the sample. Each has a module (``sequences`` and ``field3d`` two); all give the same bytes on
every machine and with every Python. ``base`` says what a sample is, ``_draw`` makes its random
choices.

- entropy: the least bytes that the random choices in a sample can take
"""

from __future__ import annotations

from serialpack.bench.samples import (
    contacts,
    documents,
    field3d,
    messages,
    phonebook,
    random_bytes,
    sequences,
    target_object,
    uuid4,
)
from serialpack.bench.samples.base import Sample, SampleTable
from serialpack.errors import UsageError
from serialpack.units import parse_size

__all__ = ["SAMPLES", "Sample", "SampleTable", "parse_sample"]

#: All samples by their names, in the order in which people read them.
SAMPLES: dict[str, Sample] = {
    sample.name: sample
    for sample in (
        uuid4.SAMPLE,
        phonebook.SAMPLE,
        contacts.SAMPLE,
        sequences.DNA,
        sequences.PROTEIN,
        documents.SAMPLE,
        target_object.SAMPLE,
        messages.SAMPLE,
        field3d.SAMPLE,
        field3d.FORTRAN,
        random_bytes.SAMPLE,
    )
}


def parse_sample(text: str) -> tuple[Sample, int]:
    """The sample and the N that ``text`` names; UsageError where it names none.

    ``contacts``, ``contacts:60000``, ``contacts:60_000``; where N counts bytes also ``random:1M``.
    """
    name, colon, count = text.partition(":")
    sample = SAMPLES.get(name)
    if sample is None:
        raise UsageError(f"unknown sample {name!r}", hint=_suggest(name))
    if not colon:
        return sample, sample.default
    n = _number(count, is_size=sample.unit == "bytes")
    if n < 1:
        raise UsageError(
            f"the N of sample {name} is a whole number from 1, not {count!r}",
            hint=f"it counts {sample.unit}, as in {name}:{sample.default}",
        )
    return sample, n


def _number(text: str, *, is_size: bool) -> int:
    """The number that ``text`` spells, for a size also with a unit; 0 where it spells none."""
    digits = text.replace("_", "")
    if not digits.isascii():
        return 0
    try:
        return parse_size(digits) if is_size else int(digits) if digits.isdigit() else 0
    except (ValueError, OverflowError):
        return 0


def _suggest(name: str) -> str:
    """A hint for a name that no sample has."""
    import difflib

    near = difflib.get_close_matches(name, SAMPLES, n=3)
    if near:
        return "did you mean " + " or ".join(near) + "?"
    return "known: " + ", ".join(SAMPLES)
