"""The completion script for zsh."""

from __future__ import annotations

from collections.abc import Iterator

from tools._completion_words import HEADER, about_of, no_stop, with_levels
from tools._facts import OptionFacts, VerbFacts, Word, program_options


def zsh(found: list[VerbFacts], offered: dict[str, list[Word]]) -> Iterator[str]:
    yield "#compdef serialpack"
    yield f"# zsh {HEADER}"
    yield "# Put it into a folder that is in $fpath before compinit runs."
    for kind, choices in offered.items():
        yield from _zsh_choices(kind, choices, leveled=kind in with_levels(offered))
    yield ""
    yield "# Files that end in $1, and folders on the way to them."
    yield "_serialpack_ending() {"
    yield "  local ending=$1"
    yield "  _alternative \\"
    yield "    \"files:packed file:_path_files -g '*${ending}(-^/)'\" \\"
    yield "    'folders:folder:_path_files -/'"
    yield "}"
    for verb in found:
        yield from _zsh_verb(verb)
    yield from _zsh_program(found)
    yield ""
    yield '_serialpack "$@"'


def _zsh_choices(kind: str, choices: list[Word], *, leveled: bool) -> Iterator[str]:
    """The function that offers the words of a kind; ``leveled``: and levels behind them."""
    yield ""
    yield f"_serialpack_{kind}() {{"
    if leveled:
        yield from _zsh_levels(choices)
    yield "  local -a choices=("
    for word in choices:
        name = word.word.replace(":", "\\:")  # or it would end there
        yield f"    {_zsh_quote(f'{name}:{word.about}')}"
    yield "  )"
    yield f"  _describe -V -t {kind}s {kind} choices"
    yield "}"


def _zsh_verb(verb: VerbFacts) -> Iterator[str]:
    """The function that completes what stands behind a verb."""
    yield ""
    yield f"_serialpack-{verb.name}() {{"
    yield "  _arguments -s -S : \\"
    for option in verb.options:
        for spec in _zsh_specs(option):
            yield f"    {spec} \\"
    # A space before an action: it wants its own arguments only.
    files = f" _serialpack_ending {verb.suffix}" if verb.suffix else "_files"
    yield f"    {_zsh_quote(f'*:file:{files}')}"
    yield "}"


def _zsh_program(found: list[VerbFacts]) -> Iterator[str]:
    """The function that completes the verb, and calls that of the verb."""
    yield ""
    yield "_serialpack() {"
    yield "  local curcontext=$curcontext state state_descr line ret=1"
    yield "  local -A opt_args"
    yield "  local -a verbs=("
    for verb in found:
        yield f"    {_zsh_quote(f'{verb.name}:{no_stop(verb.about)}')}"
    yield "  )"
    yield "  _arguments -C \\"
    for option in program_options():
        for name in option.names:
            yield f"    {_zsh_quote(f'(- : *){name}[{_zsh_text(about_of(option))}]')} \\"
    yield "    '1:verb:->verb' '*::argument:->argument' && ret=0"
    yield "  case $state in"
    yield "    verb) _describe -t verbs verb verbs && ret=0 ;;"
    yield "    argument)"
    yield "      curcontext=${curcontext%:*}-$line[1]:"
    yield "      (( $+functions[_serialpack-$line[1]] )) && _serialpack-$line[1] && ret=0"
    yield "      ;;"
    yield "  esac"
    yield "  return ret"
    yield "}"


def _zsh_levels(choices: list[Word]) -> Iterator[str]:
    yield "  if [[ $PREFIX == *:* ]]; then"
    yield "    local name=${PREFIX%%:*}"
    yield "    local -a levels expl"
    yield "    case $name in"
    for levels in dict.fromkeys(w.levels for w in choices if w.levels):
        names = "|".join(w.word for w in choices if w.levels == levels)
        yield f"      {names}) levels=({' '.join(levels)}) ;;"
    yield "    esac"
    yield "    compset -P '*:'"
    yield '    _wanted -V levels expl "value of $name" compadd -a - levels'
    yield "    return"
    yield "  fi"


def _zsh_specs(option: OptionFacts) -> Iterator[str]:
    """What ``_arguments`` wants to be told about one option, an entry for each way to type it."""
    about = _zsh_text(about_of(option))
    others = "" if option.repeatable else f"({' '.join(option.typed)})"
    if option.names[-1] == "--help":
        others = "(- *)"
    star = "*" if option.repeatable else ""
    for flag in option.dial:
        effort = f"effort {flag[1:]}"
        yield _zsh_quote(f"{others}{flag}[{effort}]")
    for name in option.names + option.negations:
        value = ""
        if option.metavar is not None and name in option.names:
            action = {"": " ", "path": "_files"}.get(option.offers, f"_serialpack_{option.offers}")
            name += "=" if name.startswith("--") else "+"
            value = f":{_zsh_text(option.metavar)}:{action}"
        yield _zsh_quote(f"{others}{star}{name}[{about}]{value}")


def _zsh_text(text: str) -> str:
    """``text`` within brackets of a spec."""
    for special in ("\\", "[", "]", ":"):
        text = text.replace(special, f"\\{special}")
    return text


def _zsh_quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
