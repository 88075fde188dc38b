"""Manual pages in roff (man macros), from the declarations.

One sentence stands on one line. Pages name no date: they change only when what they say does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter

from serialpack import __version__
from serialpack.bench.samples import SAMPLES
from serialpack.cli.app import app
from serialpack.cli.words import EXIT_CODES
from serialpack.conversion.losses.rules import RULES
from serialpack.errors import WORST_FIRST
from serialpack.formats import FORMATS
from serialpack.stages.effort import EFFORTS
from serialpack.stages.stage import Param, Stage
from serialpack.units import format_size
from tools._descriptions import DESCRIPTIONS
from tools._facts import (
    MANY,
    REGISTRIES,
    OptionFacts,
    VerbFacts,
    dialled,
    program_options,
    values_of,
    verbs,
)
from tools._of_options import OF_OPTIONS
from tools._sections import CONFIG_EXAMPLE, ENVIRONMENT, FAR, FILES, MEMORY

#: Offers that a page of a verb explains in a section of its own.
STAGE_OFFERS = set(REGISTRIES)


def pages() -> dict[str, str]:
    """File name -> the page, for the program and for each verb."""
    found = verbs()
    check_prose(found)
    result = {"serialpack.1": _text(_program_page(found))}
    for verb in found:
        result[f"serialpack-{verb.name}.1"] = _text(_verb_page(verb, found))
    return result


def check_prose(found: Iterable[VerbFacts]) -> None:
    """ValueError where the prose speaks of what is not declared."""
    options = {v.name: {o.long for o in v.options} for v in found}
    if set(DESCRIPTIONS) != {"", *options}:
        raise ValueError(f"DESCRIPTIONS has {sorted(DESCRIPTIONS)}")
    for verb, option in OF_OPTIONS:
        if verb == "*":
            known = option in set().union(*options.values())
        else:
            known = option in options.get(verb, ())
        if not known:
            raise ValueError(f"OF_OPTIONS speaks of {verb} {option}, which is not declared")


#: Of the verbs that take several files, and of those that write some.
_FILES = {"--recursive": "Inputs", "--json": "Messages"}
_WRITES = {"--output": "Outputs", "--threads": "The work"} | _FILES
#: Verb -> the first option of a kind on its page -> what those from there on are about. The help,
#: which is one screen, has no room for these.
HEADINGS: dict[str, dict[str, str]] = {
    "pack": {
        "--serializer": "Stages",
        "--from": "What FILE is",
        "--exact": "Proof and trust",
        "--schema": "Schemas",
        "--block-size": "The container",
    }
    | _WRITES,
    "unpack": {
        "--to": "Formats",
        "--delimiter": "Tables that are read",
        "--lossy": "Losses",
        "--at": "Records, columns and their types",
        "--indent": "What is written",
        "--skip-bad": "Some of the records",
        "--no-verify": "Proof and schemas",
        "--test": "Containers, and parts of them",
        "--key": "Stores of keys and values",
    }
    | _WRITES,
    "inspect": {"--stages": "What is told", "--from": "What FILE is"} | _FILES,
    "bench": {"--serializer": "What is measured", "--format": "Reports"} | _FILES,
}


def _program_page(found: list[VerbFacts]) -> Iterator[str]:
    yield from _head("serialpack", _lower(app.help or ""))
    yield ".SH SYNOPSIS"
    for verb in found:
        yield from _synopsis(verb)
        yield ".br"
    yield rf".B serialpack {_roff('--version')}"
    yield from _description("")
    yield ".SH VERBS"
    for verb in found:
        yield ".TP"
        yield rf".BR serialpack\-{verb.name} (1)"
        yield from _prose(verb.about)
    yield ".SH EXAMPLES"
    for verb in found:
        yield from _examples(verb.examples[:2])
    yield ".SH OPTIONS"
    for option in program_options():
        yield from _option("", option)
    yield ".PP"
    yield from _prose("The options of each verb are on its own page.")
    yield from _tail([f"serialpack-{v.name}" for v in found])


def _verb_page(verb: VerbFacts, found: list[VerbFacts]) -> Iterator[str]:
    yield from _head(f"serialpack-{verb.name}", _lower(verb.about.partition(";")[0]))
    yield ".SH SYNOPSIS"
    yield from _synopsis(verb)
    yield from _description(verb.name)
    yield ".SH EXAMPLES"
    yield from _examples(verb.examples)
    yield ".SH OPTIONS"
    headings = HEADINGS[verb.name].copy()
    for option in verb.options:
        if (heading := headings.pop(option.long, None)) is not None:
            yield f".SS {heading}"
        yield from _option(verb.name, option)
    if headings:
        raise ValueError(f"HEADINGS speaks of {verb.name} {', '.join(headings)}, not declared")
    offers = {o.offers for o in verb.options}
    if offers & STAGE_OFFERS:
        yield from _stages()
    if "loss" in offers:
        yield from _losses()
    if "sample" in offers:
        yield from _samples()
    if "format" in offers:
        yield from _formats()
    others = [f"serialpack-{v.name}" for v in found if v is not verb]
    yield from _tail(["serialpack", *others])


def _head(name: str, about: str) -> Iterator[str]:
    yield r".\" Made by tools/generate.py; do not edit."
    yield f'.TH {_roff(name.upper())} 1 "" "serialpack {__version__}" "User Commands"'
    # No stretched lines and no hyphenation (the register is for groff, which turns it on again
    # at each section): options and names stay whole.
    yield ".nr HY 0"
    yield ".hy 0"
    yield ".ad l"
    yield ".SH NAME"
    yield rf"{_roff(name)} \- {_roff(about.rstrip('.'))}"


def _synopsis(verb: VerbFacts) -> Iterator[str]:
    yield f".B serialpack {verb.name}"
    yield re.sub(r"[A-Z]{2,}", r"\\fI\g<0>\\fR", _roff(verb.usage))


def _description(verb: str) -> Iterator[str]:
    yield ".SH DESCRIPTION"
    for number, paragraph in enumerate(DESCRIPTIONS[verb]):
        if number:
            yield ".PP"
        yield from _prose(paragraph)


def _examples(examples: Iterable[tuple[str, str]]) -> Iterator[str]:
    for command, does in examples:
        yield from _term(rf"\fB{_roff(command)}\fR", does)


def _option(verb: str, option: OptionFacts) -> Iterator[str]:
    yield ".TP"
    yield _spelling(option)
    yield from _prose(option.about)
    for key in (("*", option.long), (verb, option.long)):
        for paragraph in OF_OPTIONS.get(key, ()):
            yield from _prose(paragraph)
    if option.dial:
        yield from _dial(option)


def _spelling(option: OptionFacts) -> str:
    names = []
    if option.dial:
        names.append(rf"\fB{_roff(option.dial[0])}\fR ... \fB{_roff(option.dial[-1])}\fR")
    for name in option.names:
        value = rf" \fI{_roff(option.metavar)}\fR" if option.metavar else ""
        names.append(rf"\fB{_roff(name)}\fR{value}")
    return ", ".join(names + [rf"\fB{_roff(n)}\fR" for n in option.negations])


def _dial(option: OptionFacts) -> Iterator[str]:
    """The table of the dial: what each step stands for."""
    yield ".RS"
    yield ".PP"
    yield ".EX"
    levels = dialled()
    yield rf"\fIeffort  blocks  {'  '.join(map(_roff, levels))}\fR"
    for at, (flag, step) in enumerate(zip(option.dial, EFFORTS.values(), strict=True)):
        size = format_size(step.block_size, exact=True)
        cells = (f"{steps[at]:>{len(name)}}" for name, steps in levels.items())
        yield _roff(f"{flag:>6}  {size:>6}  {'  '.join(cells)}")
    yield ".EE"
    yield ".RE"


def _stages() -> Iterator[str]:
    yield ".SH STAGES"
    yield from _prose(
        "A stage is spelled as its name and its parameters. A parameter that is left out takes its"
        " default. Sizes may be written as 64K or 1M. `serialpack inspect --stages` tells which"
        " stages can be used here."
    )
    for kind, registry in REGISTRIES.items():
        yield f".SS {kind.capitalize()}s"
        if kind in ("serializer", "codec"):
            yield from _term(r"\fBauto\fR", "Let serialpack choose; the default.")
        # Stages of one class differ by name only.
        named = [(registry.cls(entry.name), entry.name) for entry in registry]
        for cls, group in groupby(named, key=itemgetter(0)):
            yield ".TP"
            form = _params_form(cls)
            names = [name for _, name in group]
            yield ", ".join(rf"\fB{_roff(name)}\fR{form}" for name in names)
            yield from _prose(_sentence(cls.about))
            if cls.params:
                yield _roff(_sentence("; ".join(_param(names[0], cls, p) for p in cls.params)))
            if cls.extra is not None:
                yield from _prose(f"Needs `pip install 'serialpack[{cls.extra}]'`.")


def _params_form(cls: type[Stage]) -> str:
    return "".join(rf"[{p.mark}\fI{p.name.upper()}\fR]" for p in cls.params)


def _param(name: str, cls: type[Stage], param: Param) -> str:
    default = f", default {param.default}" if param.mark == ":" else ""
    values = param.range.replace("..", " to ").replace("|", ", ")
    if not param.words and param.high - param.low < MANY:
        accepted = values_of(name, cls, param)
        if len(accepted) <= param.high - param.low:
            values = f"{', '.join(accepted[:-1])} or {accepted[-1]}"
    return f"{param.name.upper()} is {values}{default}"


def _losses() -> Iterator[str]:
    yield ".SH LOSSES"
    for name, rule in RULES.items():
        yield from _term(rf"\fB{_roff(name)}\fR", _sentence(rule.about))


def _samples() -> Iterator[str]:
    yield ".SH SAMPLES"
    yield "The same bytes on every machine, of any size N."
    for sample in SAMPLES.values():
        yield from _term(rf"\fB{_roff(sample.name)}\fR[:\fIN\fR]", _sentence(sample.about))
        yield _roff(f"N counts {sample.unit}; default {sample.default}.")


def _formats() -> Iterator[str]:
    yield ".SH FORMATS"
    for entry in FORMATS:
        yield from _term(rf"\fB{_roff(entry.name)}\fR", _sentence(FORMATS.get(entry.name).about))
        if entry.extensions:
            yield _roff(f"Files that end in {', '.join(entry.extensions)}.")


def _tail(others: list[str]) -> Iterator[str]:
    yield ".SH EXIT STATUS"
    for code, says in EXIT_CODES.items():
        yield from _term(rf"\fB{_roff(code)}\fR", says)
    yield ".PP"
    worst, *lesser = (str(code) for code in WORST_FIRST if code)
    yield from _prose(f"Of several files, the worst decides: {worst}, then {', '.join(lesser)}.")
    yield ".SH MEMORY"
    for says in MEMORY:
        yield ".PP"
        yield from _prose(says)
    yield ".SH FAR FILES"
    for says in FAR:
        yield ".PP"
        yield from _prose(says)
    yield ".SH ENVIRONMENT"
    for name, says in ENVIRONMENT.items():
        yield from _term(rf"\fB{_roff(name)}\fR", says)
    yield ".SH FILES"
    for name, says in FILES.items():
        yield from _term(rf"\fI{_roff(name)}\fR", says)
        if name.endswith(".toml"):
            yield ".IP"
            yield ".EX"
            yield from (_roff(line) for line in CONFIG_EXAMPLE)
            yield ".EE"
    yield ".SH SEE ALSO"
    pages = [*((name, 1) for name in others), ("spk", 5), ("zstd", 1)]
    for number, (name, section) in enumerate(pages, 1):
        comma = "," if number < len(pages) else ""
        yield f".BR {_roff(name)} ({section}){comma}"


_OPTION = re.compile(r"(?<![\w\\-])(--?[a-zA-Z0-9][a-z-]*)(?![\w])")


def _term(term: str, about: str) -> Iterator[str]:
    """A paragraph of a list: ``term``, which is roff, and behind it what is said ``about`` it."""
    yield ".TP"
    yield term
    yield from _prose(about)


def _prose(text: str) -> Iterator[str]:
    """``text`` with a sentence on each line, and options and words in backticks in bold."""
    for sentence in re.split(r"(?<=[.:;]) (?=[A-Z`])", text):
        parts = re.split(r"`([^`]*)`", sentence)
        line = "".join(
            rf"\fB{_roff(part)}\fR" if number % 2 else _bold_options(part)
            for number, part in enumerate(parts)
        )
        yield r"\&" + line if line.startswith((".", "'")) else line


def _bold_options(text: str) -> str:
    parts = _OPTION.split(text)
    return "".join(
        rf"\fB{_roff(part)}\fR" if number % 2 else _roff(part) for number, part in enumerate(parts)
    )


def _roff(text: str) -> str:
    """``text`` as roff shows it literally: a hyphen that can be copied, a plain quote."""
    for plain, escaped in (
        ("\\", r"\e"), ("-", r"\-"), ("'", r"\(aq"), ("~", r"\(ti"), ("^", r"\(ha"), ("`", r"\(ga")
    ):  # fmt: skip
        text = text.replace(plain, escaped)
    return r"\&" + text if text.startswith(".") else text


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def _sentence(text: str) -> str:
    """``text`` with a capital and a full stop."""
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def _text(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"
