"""The completion script for bash.

For bash 3.2 (macOS) and later. Needs nothing from the package bash-completion.
"""

from __future__ import annotations

from collections.abc import Iterator

from tools._completion_words import HEADER, with_levels
from tools._facts import VerbFacts, Word, program_options

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


def bash(found: list[VerbFacts], offered: dict[str, list[Word]]) -> Iterator[str]:
    yield f"# bash {HEADER}"
    yield "# Source it, or put it into ~/.local/share/bash-completion/completions/serialpack."
    yield _BASH_WORDS.rstrip("\n")
    yield from _bash_kinds(found)
    yield from _bash_options(found)
    yield from _bash_values(offered)
    names = [v.name for v in found] + [n for o in program_options() for n in o.typed]
    yield _BASH_MAIN.rstrip("\n").replace("@VERBS@", " ".join(names))


def _bash_kinds(found: list[VerbFacts]) -> Iterator[str]:
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


def _bash_options(found: list[VerbFacts]) -> Iterator[str]:
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


def _bash_values(offered: dict[str, list[Word]]) -> Iterator[str]:
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
    for kind, choices in with_levels(offered).items():
        for levels in dict.fromkeys(w.levels for w in choices if w.levels):
            stages = " | ".join(f'"{kind} {w.word}"' for w in choices if w.levels == levels)
            yield f'        {stages}) levels="{" ".join(levels)}" ;;'
    yield "    esac"
    yield '    _serialpack_add -P "$1${2%%:*}:" -W "$levels" -- "${2#*:}"'
    yield "}"
