"""What is declared about the command line, as plain data, for man pages and completions.

Everything comes from the click declarations and the registries. What is installed on the
machine that generates makes no difference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple, get_args

import click

from serialpack.bench.recommend import PREFERENCES
from serialpack.bench.reports import FORMATS as REPORTS
from serialpack.bench.samples import SAMPLES
from serialpack.cli.app import VERBS, app
from serialpack.cli.options.declared import Verb, option_rows
from serialpack.codecs import CODECS
from serialpack.conversion.losses.rules import EVERY, RULES
from serialpack.conversion.stores import Duplicates
from serialpack.errors import UsageError
from serialpack.filters import FILTERS
from serialpack.formats import FORMATS
from serialpack.serializers import SERIALIZERS
from serialpack.stages.effort import DEFAULT_EFFORT, EFFORTS
from serialpack.stages.stage import Param, Registry, Stage
from serialpack.stores.registry import STORES, store_kind
from serialpack.units import format_size

#: What a shell offers for an option's value, by how the declaration calls the value. A metavar
#: that is not here stops the generator: whoever adds one says what to offer.
OFFERS = {
    "NAME": "serializer",
    "NAME[:SIZE]": "filter",
    "NAME[:LEVEL]": "codec",
    "FORMAT": "format",
    "ADDRESS": "",
    "GLOB": "",
    "HOW": "",
    "PATH": "path",
    "N": "",
    "SIZE": "",
    "A:B": "",
    "KEY=VALUE": "",
    "CHAR": "",
    "ENCODING": "",
    "MESSAGE": "",
    "KIND": "loss",
    "SECONDS": "",
    "SPEED": "",
    "SAMPLE": "sample",
    "A:B:STEP": "",
    "WHAT": "preference",
    "N,...": "",
    "A,B.C": "",
    "NAME=TYPE": "",
    "REPORT": "report",
    "WORD": "",
    "[NAME]": "",
    "A.B": "",
    "FIELD": "",
    "KEY": "",
    "STORE": "store",
    "WHICH": "which",
}

#: A parameter with more values than this is completed with the powers of two among them.
MANY = 40


class Word(NamedTuple):
    """A word that a shell offers, what it means, and values that may follow it after a colon."""

    word: str
    about: str
    levels: tuple[str, ...] = ()


class OptionFacts(NamedTuple):
    """One option as it is typed.

    ``names`` and ``negations`` (``--rm`` of ``--keep``) are what a person types; ``dial`` are
    the flags of a range (``-1`` to ``-9``); ``shown`` is how help spells it all; ``metavar`` is
    None for a flag; ``offers`` is a key of WORDS, ``path``, or empty.
    """

    names: tuple[str, ...]
    negations: tuple[str, ...]
    dial: tuple[str, ...]
    shown: str
    metavar: str | None
    about: str
    offers: str
    repeatable: bool

    @property
    def typed(self) -> tuple[str, ...]:
        return self.dial + self.names + self.negations

    @property
    def long(self) -> str:
        return next(n for n in self.names if n.startswith("--"))


class VerbFacts(NamedTuple):
    """One verb; ``suffix`` is the file ending that its arguments have, empty for any file."""

    name: str
    about: str
    usage: str
    examples: tuple[tuple[str, str], ...]
    suffix: str
    options: tuple[OptionFacts, ...]


def verbs() -> list[VerbFacts]:
    """Every verb, in the order of the program's help."""
    return [_verb(name) for name in VERBS]


def program_options() -> tuple[OptionFacts, ...]:
    """The options that stand before a verb."""
    context = app.make_context("serialpack", [], resilient_parsing=True)
    return _options(app, context)


def command(name: str) -> Verb:
    """The click command of a verb."""
    found = app.get_command(click.Context(app), name)
    assert isinstance(found, Verb), name
    return found


def context(name: str) -> click.Context:
    """A context of a verb as the program makes it, without arguments."""
    parent = app.make_context("serialpack", [], resilient_parsing=True)
    return command(name).make_context(name, [], parent=parent, resilient_parsing=True)


def _verb(name: str) -> VerbFacts:
    verb = command(name)
    ctx = context(name)
    return VerbFacts(
        name=name,
        about=verb.help or "",
        usage=" ".join(verb.collect_usage_pieces(ctx)),
        examples=verb.examples,
        suffix=verb.completes,
        options=_options(verb, ctx),
    )


def _options(command: click.Command, ctx: click.Context) -> tuple[OptionFacts, ...]:
    params = [p for p in command.get_params(ctx) if isinstance(p, click.Option) and not p.hidden]
    rows = option_rows(command, ctx)
    return tuple(_option(p, *row) for p, row in zip(params, rows, strict=True))


def _option(param: click.Option, shown: str, about: str) -> OptionFacts:
    dial: list[str] = []
    names = []
    for name in param.opts:
        ends = re.fullmatch(r"-(\d)\.\.-(\d)", name)
        if ends is None:
            names.append(name)
        else:
            dial += [f"-{n}" for n in range(int(ends[1]), int(ends[2]) + 1)]
    metavar = None if param.is_flag else param.metavar
    offers = "" if metavar is None else "effort" if dial else OFFERS[metavar]
    negations = tuple(n for n in param.secondary_opts if n)
    repeatable = bool(param.multiple)
    return OptionFacts(
        tuple(names), negations, tuple(dial), shown, metavar, about, offers, repeatable
    )


REGISTRIES: dict[str, Registry[Any]] = {r.kind: r for r in (SERIALIZERS, FILTERS, CODECS)}


def words() -> dict[str, list[Word]]:
    """What can be offered for a value, by kind."""
    found = {kind: [*_auto(kind), *_stage_words(r)] for kind, r in REGISTRIES.items()}
    found["format"] = [Word(e.name, FORMATS.get(e.name).about) for e in FORMATS.sources()]
    found["loss"] = [*_losses()]
    found["sample"] = [Word(sample.name, sample.about) for sample in SAMPLES.values()]
    found["preference"] = [Word(name, "") for name in PREFERENCES]
    found["store"] = [Word(name, store_kind(name).about) for name in STORES]
    found["which"] = [Word(name, "") for name in get_args(Duplicates)]
    found["report"] = [Word(name, "") for name in REPORTS]
    found["effort"] = [Word(str(n), effort_about(n)) for n in EFFORTS]
    return found


def _losses() -> Iterator[Word]:
    """What must be named to be lost; what is carried need not be."""
    for name, rule in RULES.items():
        if rule.is_loss:
            yield Word(name, rule.about)
    yield Word(EVERY, "all of them")


def _auto(kind: str) -> Iterator[Word]:
    """``auto`` where an option of a verb has it as its default."""
    for name in VERBS:
        for param in command(name).params:
            if OFFERS.get(param.metavar or "") == kind and param.default == "auto":
                yield Word("auto", "let serialpack choose (default)")
                return


def _stage_words(registry: Registry[Any]) -> Iterator[Word]:
    for entry in registry:
        cls: type[Stage] = registry.cls(entry.name)
        levels = tuple(
            v for p in cls.params if p.mark == ":" for v in values_of(entry.name, cls, p)
        )
        yield Word(entry.name, cls.about, levels)


def values_of(name: str, cls: type[Stage], param: Param) -> list[str]:
    """The values of ``param`` worth offering, each one that the stage accepts."""
    every = range(param.low, param.high + 1)
    some = every if len(every) <= MANY else [1 << n for n in range(16) if 1 << n in every]
    found = []
    for value in some:
        try:
            cls.parse_params(name, f"{param.mark}{value}")
        except UsageError:
            continue
        found.append(str(value))
    return found


def effort_about(effort: int) -> str:
    """A step of the dial in words."""
    level = dialled()["zstd"][effort - min(EFFORTS)]
    size = format_size(EFFORTS[effort].block_size, exact=True)
    ends = {min(EFFORTS): ", fastest", max(EFFORTS): ", smallest", DEFAULT_EFFORT: ", default"}
    return f"zstd level {level}, blocks of {size}{ends.get(effort, '')}"


def dialled() -> dict[str, tuple[int, ...]]:
    """Codecs whose level the dial sets, those of one class as one, and the levels by effort."""
    found: dict[str, tuple[int, ...]] = {}
    for entry in CODECS:
        steps = [p.efforts for p in CODECS.cls(entry.name).params if p.efforts]
        family, dash, _ = entry.name.partition("-")
        found.update({family + dash + "*" * bool(dash): levels for levels in steps})
    return found
