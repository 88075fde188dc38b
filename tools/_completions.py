"""Completion scripts for bash, zsh and fish, from the declarations.

They are static: no shell starts serialpack to complete a word. All three offer the same: verbs,
options, names of stages and formats, the values after a stage's colon, and files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tools._facts import OptionFacts, VerbFacts, Word, program_options, verbs, words

HEADER = "completion for serialpack. Made by tools/generate.py; do not edit."


def scripts() -> dict[str, str]:
    """File name -> the script."""
    found, offered = verbs(), words()
    return {
        "serialpack.bash": _text(_bash(found, offered)),
        "_serialpack": _text(_zsh(found, offered)),
        "serialpack.fish": _text(_fish(found, offered)),
    }


def _text(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"


def _with_levels(offered: dict[str, list[Word]]) -> dict[str, list[Word]]:
    """The kinds some of whose words take a value after a colon."""
    return {kind: found for kind, found in offered.items() if any(w.levels for w in found)}


def _about(option: OptionFacts) -> str:
    return _no_stop(option.about)


def _no_stop(text: str) -> str:
    return text if text.endswith("..") else text.removesuffix(".")


# --- bash ------------------------------------------------------------------------------------
# For bash 3.2 (macOS) and later. Needs nothing from the package bash-completion.

_BASH_WORDS = r"""
# Set words and cur: what is typed up to the cursor. COMP_WORDBREAKS cuts words at : = @ too;
# what no space parts is put together again.
_serialpack_words() {
    local line=${COMP_LINE:0:COMP_POINT} word i
    words=()
    for ((i = 0; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if ((i)) && [[ $line != [[:space:]]* ]]; then
            words[${#words[@]} - 1]+=$word
        else
            words+=("$word")
        fi
        line=${line#*"$word"}
    done
    if ((COMP_CWORD)) && [[ $line != [[:space:]]* ]]; then
        i=$((${#words[@]} - 1))
        cur=${words[i]}$line
        unset "words[i]"
    else
        cur=${line#"${line%%[![:space:]]*}"}
    fi
}

# Add to COMPREPLY what "compgen $@" finds.
_serialpack_add() {
    local found
    while IFS= read -r found; do
        COMPREPLY+=("$found")
    done < <(compgen "$@")
}

# Files that begin with $2 ($1 is typed before it in the same word), of ending $3 if given.
_serialpack_files() {
    compopt -o filenames 2>/dev/null
    if [[ -n ${3-} ]]; then
        _serialpack_add -P "$1" -f -X "!*$3" -- "$2"
        _serialpack_add -P "$1" -d -- "$2"
    else
        _serialpack_add -P "$1" -f -- "$2"
    fi
}

# Readline replaces only what follows the last of its word breaks: take the rest of $1 off.
_serialpack_trim() {
    local n char cut=
    for ((n = ${#1}; n > 0; n--)); do
        char=${1:n-1:1}
        if [[ :=@ == *"$char"* && $COMP_WORDBREAKS == *"$char"* ]]; then
            cut=${1:0:n}
            break
        fi
    done
    for n in "${!COMPREPLY[@]}"; do
        COMPREPLY[n]=${COMPREPLY[n]#"$cut"}
    done
}
"""

_BASH_MAIN = r"""
_serialpack() {
    local words cur verb= opt= kind= ending= options= i word
    local verbs="@VERBS@"
    COMPREPLY=()
    _serialpack_words
    for ((i = 1; i < ${#words[@]}; i++)); do
        word=${words[i]}
        if [[ -z $verb ]]; then
            [[ $word == -* ]] || verb=$word
        elif [[ $opt == -- ]]; then
            :
        elif [[ -n $opt ]]; then
            opt=
        elif [[ $word == -- ]] || _serialpack_kind "$verb" "$word"; then
            opt=$word
        fi
    done
    if [[ -z $verb ]]; then
        _serialpack_add -W "$verbs" -- "$cur"
    elif [[ -n $opt && $opt != -- ]]; then
        _serialpack_kind "$verb" "$opt"
        _serialpack_value "" "$cur"
    elif [[ $opt != -- && $cur == --*=* ]]; then
        _serialpack_kind "$verb" "${cur%%=*}" && _serialpack_value "${cur%%=*}=" "${cur#*=}"
    elif [[ $opt != -- && $cur == -* ]]; then
        _serialpack_options "$verb"
        _serialpack_add -W "$options" -- "$cur"
    else
        _serialpack_options "$verb"
        _serialpack_files "" "$cur" "$ending"
    fi
    _serialpack_trim "$cur"
}

complete -F _serialpack serialpack
"""


def _bash(found: list[VerbFacts], offered: dict[str, list[Word]]) -> Iterator[str]:
    yield f"# bash {HEADER}"
    yield "# Source it, or put it into ~/.local/share/bash-completion/completions/serialpack."
    yield _BASH_WORDS.rstrip("\n")
    yield ""
    yield "# Set kind: what the option $2 of the verb $1 takes. Fails for one that takes nothing."
    yield "_serialpack_kind() {"
    yield '    case "$1 $2" in'
    for verb in found:
        for option in verb.options:
            if option.metavar is not None:
                typed = " | ".join(f'"{verb.name} {name}"' for name in option.names)
                yield f"        {typed}) kind={option.offers} ;;"
    yield "        *) return 1 ;;"
    yield "    esac"
    yield "}"
    yield ""
    yield "# Set options and ending: what the verb $1 can be given."
    yield "_serialpack_options() {"
    yield "    case $1 in"
    for verb in found:
        yield f"        {verb.name})"
        yield f'            options="{" ".join(n for o in verb.options for n in o.typed)}"'
        yield f"            ending={verb.suffix}"
        yield "            ;;"
    yield "        *) options= ending= ;;"
    yield "    esac"
    yield "}"
    yield ""
    yield "# Offer values of the kind that begin with $2; $1 is typed before it in the same word."
    yield "_serialpack_value() {"
    yield "    local names= levels="
    yield "    case $kind in"
    yield '        path) _serialpack_files "$1" "$2"; return ;;'
    for kind, choices in offered.items():
        yield f'        {kind}) names="{" ".join(w.word for w in choices)}" ;;'
    yield "    esac"
    yield "    if [[ $2 != *:* ]]; then"
    yield '        _serialpack_add -P "$1" -W "$names" -- "$2"'
    yield "        return"
    yield "    fi"
    yield '    case "$kind ${2%%:*}" in'
    for kind, choices in _with_levels(offered).items():
        for levels in dict.fromkeys(w.levels for w in choices if w.levels):
            stages = " | ".join(f'"{kind} {w.word}"' for w in choices if w.levels == levels)
            yield f'        {stages}) levels="{" ".join(levels)}" ;;'
    yield "    esac"
    yield '    _serialpack_add -P "$1${2%%:*}:" -W "$levels" -- "${2#*:}"'
    yield "}"
    names = [v.name for v in found] + [n for o in program_options() for n in o.typed]
    yield _BASH_MAIN.rstrip("\n").replace("@VERBS@", " ".join(names))


# --- zsh -------------------------------------------------------------------------------------


def _zsh(found: list[VerbFacts], offered: dict[str, list[Word]]) -> Iterator[str]:
    yield "#compdef serialpack"
    yield f"# zsh {HEADER}"
    yield "# Put it into a folder that is in $fpath before compinit runs."
    for kind, choices in offered.items():
        yield ""
        yield f"_serialpack_{kind}() {{"
        if kind in _with_levels(offered):
            yield from _zsh_levels(choices)
        yield "  local -a choices=("
        for word in choices:
            name = word.word.replace(":", "\\:")  # or it would end there
            yield f"    {_zsh_quote(f'{name}:{word.about}')}"
        yield "  )"
        yield f"  _describe -V -t {kind}s {kind} choices"
        yield "}"
    yield ""
    yield "# Files that end in $1, and folders on the way to them."
    yield "_serialpack_ending() {"
    yield "  local ending=$1"
    yield "  _alternative \\"
    yield "    \"files:packed file:_path_files -g '*${ending}(-^/)'\" \\"
    yield "    'folders:folder:_path_files -/'"
    yield "}"
    for verb in found:
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
    yield ""
    yield "_serialpack() {"
    yield "  local curcontext=$curcontext state state_descr line ret=1"
    yield "  local -A opt_args"
    yield "  local -a verbs=("
    for verb in found:
        yield f"    {_zsh_quote(f'{verb.name}:{_no_stop(verb.about)}')}"
    yield "  )"
    yield "  _arguments -C \\"
    for option in program_options():
        for name in option.names:
            yield f"    {_zsh_quote(f'(- : *){name}[{_zsh_text(_about(option))}]')} \\"
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
    yield ""
    yield '_serialpack "$@"'


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
    about = _zsh_text(_about(option))
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


# --- fish ------------------------------------------------------------------------------------

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


def _fish(found: list[VerbFacts], offered: dict[str, list[Word]]) -> Iterator[str]:
    yield f"# fish {HEADER}"
    yield "# Put it into ~/.config/fish/completions/."
    yield _FISH_FUNCTIONS.rstrip("\n")
    for kind, choices in offered.items():
        yield ""
        yield f"function __serialpack_{kind}"
        if kind in _with_levels(offered):
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
            _no_stop(verb.about)
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
                    _about(option)
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
    return " ".join(parts) + _fish_about(_about(option))


def _fish_name(name: str) -> str:
    return f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"


def _fish_about(about: str) -> str:
    return f" -d {_fish_quote(about)}"


def _fish_quote(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
