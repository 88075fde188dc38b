"""The completion script for fish."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tools._completion_words import HEADER, about_of, no_stop, with_levels
from tools._facts import OptionFacts, VerbFacts, Word, program_options

_FISH_FUNCTIONS = r"""
# Whether $argv[1] is the verb that is typed before the cursor; empty: none is.
function __serialpack_verb
    set -l words (commandline -opc)
    for word in $words[2..-1]
        if not string match -q -- '-*' $word
            test "$argv[1]" = "$word"
            return
        end
    end
    test -z "$argv[1]"
end

# Files that end in $argv[1], and folders on the way to them.
function __serialpack_ending
    set -l ending (string escape --style=regex -- $argv[1])
    complete -C "__serialpack_any_file "(commandline -ct) | string match -r -- "^.*(?:/|$ending)\$"
end
"""


def fish(found: list[VerbFacts], offered: dict[str, list[Word]]) -> Iterator[str]:
    yield f"# fish {HEADER}"
    yield "# Put it into ~/.config/fish/completions/."
    yield _FISH_FUNCTIONS.rstrip("\n")
    for kind, choices in offered.items():
        yield ""
        yield f"function __serialpack_{kind}"
        if kind in with_levels(offered):
            yield from _fish_levels(choices)
        yield r"    printf '%s\t%s\n'" + " \\"
        yield from _continued(f"{_fish_quote(w.word)} {_fish_quote(w.about)}" for w in choices)
        yield "end"
    yield ""
    yield "complete -c serialpack -f"
    for option in program_options():
        yield _fish_complete("", option)
    for verb in found:
        yield f"complete -c serialpack -n '__serialpack_verb' -a {verb.name}" + _fish_about(
            no_stop(verb.about)
        )
    for verb in found:
        yield ""
        condition = f"-n '__serialpack_verb {verb.name}'"
        if verb.suffix:
            yield f"complete -c serialpack {condition} -a '(__serialpack_ending {verb.suffix})'"
        else:
            yield f"complete -c serialpack {condition} -F"
        for option in verb.options:
            for flag in option.dial:
                about = _fish_about(f"effort {flag[1:]}")
                yield f"complete -c serialpack {condition} -s {flag[1:]}{about}"
            yield _fish_complete(verb.name, option)
            for name in option.negations:
                yield f"complete -c serialpack {condition} {_fish_name(name)}" + _fish_about(
                    about_of(option)
                )


def _fish_levels(choices: list[Word]) -> Iterator[str]:
    # The word as far as it is typed, without the option in front of it.
    yield "    set -l word (commandline -ct | string replace -r -- '^(?:--[a-z-]+=|-[A-Za-z])' '')"
    yield "    set -l name (string split -m 1 : -- $word)[1]"
    yield "    switch $word"
    for levels in dict.fromkeys(w.levels for w in choices if w.levels):
        names = " ".join(_fish_quote(f"{w.word}:*") for w in choices if w.levels == levels)
        yield f"        case {names}"
        yield f'            printf "$name:%s\\n" {" ".join(levels)}'
        yield "            return"
    yield "    end"


def _continued(lines: Iterable[str]) -> Iterator[str]:
    """``lines`` as one command over several lines."""
    every = list(lines)
    for line in every[:-1]:
        yield f"        {line} \\"
    yield f"        {every[-1]}"


def _fish_complete(verb: str, option: OptionFacts) -> str:
    condition = f"-n '__serialpack_verb{' ' * bool(verb)}{verb}'"
    parts = ["complete -c serialpack", condition, *(_fish_name(n) for n in option.names)]
    if option.offers == "path":
        parts.append("-r -F")
    elif option.offers:
        parts.append(f"-x -k -a '(__serialpack_{option.offers})'")
    elif option.metavar is not None:
        parts.append("-x")
    return " ".join(parts) + _fish_about(about_of(option))


def _fish_name(name: str) -> str:
    return f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"


def _fish_about(about: str) -> str:
    return f" -d {_fish_quote(about)}"


def _fish_quote(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
