"""What ``inspect --stages`` prints: every serializer, filter and codec, and what each holds."""

import json
from string import ascii_letters

from serialpack.cli.words import print_table
from serialpack.stages.catalog import HELD, PARTLY, REFUSED, all_stages, fidelity


def show_stages(as_json: bool) -> None:
    """A table for each kind of stage, or one line of JSON."""
    found = all_stages()
    if as_json:
        print(json.dumps([s._asdict() for s in found]))
        return
    for kind in dict.fromkeys(s.kind for s in found):
        print_table(
            [
                (
                    s.name + s.params,
                    s.version or "missing",
                    ", ".join(s.traits),
                    s.about if s.installed else s.install,
                )
                for s in found
                if s.kind == kind
            ],
            headers=(kind, "version", "traits", "what it is, or how to install it"),
        )
        print()


def show_fidelity() -> None:
    """A table of values, a column for each serializer."""
    names, rows = fidelity()
    letters = ascii_letters[: len(names)]
    print(f"{HELD} held, {PARTLY} held in part, {REFUSED} refused; never changed.\n")
    print_table([(words, marks) for _, words, marks in rows], headers=("", letters))
    print()
    print_table([(letter, name) for letter, name in zip(letters, names, strict=True)])
