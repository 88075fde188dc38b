"""What errors say, in the words of Python: the arguments of the library in place of options.

Messages and hints are written once, as the command line says them (``--lossy bytes``); who catches
an error in Python calls functions (``lossy=["bytes"]``). ``ARGUMENTS`` says which argument each
option is. What has none (``serialpack unpack --test``) stays a command.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable


def _bare(value: str) -> str:
    """A value without the quotes of the shell (``shlex.quote``)."""
    if not value.startswith("'"):
        return value
    return value[1:-1].replace(_APOSTROPHE, "'")


#: What stands for ``'`` between the quotes of the shell.
_APOSTROPHE = "'\"'\"'"


def _text(value: str) -> str:
    return _json(_bare(value))


def _json(word: str) -> str:
    return json.dumps(word, ensure_ascii=False)


def _list(value: str) -> str:
    words = next(csv.reader([_bare(value)]))
    return f"[{', '.join(word if word == '...' else _json(word) for word in words)}]"


def _columns(value: str) -> str:
    return f"({_list(value)[1:-1]},)"


def _types(value: str) -> str:
    pairs = (word.rpartition("=") for word in next(csv.reader([_bare(value)])))
    return f"[{', '.join(f'({_json(name)}, {_json(kind)})' for name, _, kind in pairs)}]"


def _range(value: str) -> str:
    start, _, stop = value.partition(":")
    return f"({start or 0}, {stop or None})"


#: Option -> its argument, and how a value of it is written; text of a flag, which takes none.
#: ``shaping.at`` is a field of ``shaping``, ``options[schema]`` a key of ``options``.
ARGUMENTS: dict[str, tuple[str, str | Callable[[str], str]]] = {
    "--ascii": ("shaping.ascii", "True"),
    "--at": ("shaping.at", _text),
    "--block-size": ("block_size", str),
    "--bytes": ("byte_range", _range),
    "-c": ("codec", _text),
    "--columnar": ("shaping.columnar", "True"),
    "--delimiter": ("delimiter", _text),
    "--encoding": ("encoding", _text),
    "--exact": ("exact", "True"),
    "--exclude": ("exclude", _list),
    "-f": ("force", "True"),
    "--fields": ("fields", _list),
    "--filter": ("filters", _list),
    "--flatten": ("shaping.flatten", "True"),
    "-F": ("format", _text),
    "--header": ("shaping.header", "True"),
    "--from": ("format", _text),
    "--include": ("include", _list),
    "--indent": ("shaping.indent", str),
    "--infer": ("shaping.infer", "True"),
    "-j": ("threads", str),
    "--lossy": ("lossy", _list),
    "--max-size": ("max_size", str),
    "--message": ("options[message]", _text),
    "--meta": ("meta", str),
    "--nest": ("shaping.nest", _columns),
    "--no-header": ("no_header", "True"),
    "--no-verify": ("verify", "False"),
    "--null": ("shaping.null", _text),
    "-o": ("target", _text),
    "--records": ("record_range", _range),
    "--out-delimiter": ("shaping.delimiter", _text),
    "-s": ("serializer", _text),
    "--salvage": ("salvage", "True"),
    "--schema": ("options[schema]", _text),
    "--separator": ("shaping.separator", _text),
    "--shared-dict": ("shared_dict", _text),
    "--skip-bad": ("skip_bad", "True"),
    "--strict": ("strict", "True"),
    "--table": ("table", _text),
    "--tagged": ("tagged", "True"),
    "--to": ("to", _text),
    "--trust": ("trust", "True"),
    "--typed": ("shaping.typed", "True"),
    "--types": ("shaping.types", _types),
}

#: The arguments of the function ``unpack``; a hint with any other one names ``convert``.
_OF_UNPACK = {
    *("byte_range", "force", "max_size", "record_range", "salvage", "shared_dict", "target"),
    *("threads", "trust"),
}

#: Words behind an option that go on with the sentence, and are no value of it. Sizes are said
#: rounded, which no argument takes.
_PROSE = (
    "and|are|choose|exclude|for|go|goes|if|is|it|names|need|needs|or|says|takes|that|the|which|with"
    r"|[\d.]+ [KMGT]?i?B|[\d.]+ bytes?"
)
_VALUE = (
    r"""(?:'[^']*'(?:"'"'[^']*')*|(?:[^\s;"'()]|"[^"]*")*(?:[^\s;:,."'()]|"[^"]*"|\.\.\.)"""
    r"""|[^\w\s](?=\s|$))"""
)
_FLAGS = "|".join(name for name, (_, spell) in ARGUMENTS.items() if isinstance(spell, str))
_VALUED = "|".join(name for name, (_, spell) in ARGUMENTS.items() if not isinstance(spell, str))
_ONE = (
    rf"(?<![^\s(])(?:(?:{_FLAGS})(?![\w-])|(?:{_VALUED})(?![\w-])"
    rf"(?: (?!(?:{_PROSE})(?![\w-])|--?[a-z]){_VALUE})?)"
)
_WORDS = re.compile(
    # Quoted text is the user's, and a whole command stays a command.
    r"""(?P<kept>(?<!\w)'[^']*'|"[^"]*"|\bserialpack [a-z]+\b[^;]*|\b(?:jq|python3) -c\b)"""
    # How a command writes to a pipe: in Python there is one word for both ways.
    r"|(?P<out>-o - and >)"
    # A command without its first word, with an option that is no argument: a command again.
    rf"|(?P<command>\b(?:pack|unpack|inspect)(?= -)(?: {_ONE})*(?: (?!{_ONE})--?[a-z][\w-]*)"
    rf"(?: (?:[A-Z0-9]+\b|{_ONE}))*)"
    rf"|(?P<call>\b(?:pack|unpack)(?: FILE)?(?= -)(?: {_ONE})+)"
    rf"|(?P<options>{_ONE}(?: {_ONE})*)"
)
#: ``to="csv", json or yaml can``: more values of one option.
_MORE = re.compile(
    r'(\bto="[\w-]+")((?:, [a-z][\w-]*)*) or ([a-z][\w-]*)(?= (?:can|holds|keeps)\b)'
)


def in_arguments(text: str) -> str:
    """``text``, what an error says, with arguments in place of options."""
    text = _WORDS.sub(_translated, text) if "-" in text else text
    return _MORE.sub(
        lambda m: m[1] + re.sub(r", ([\w-]+)", r', "\1"', m[2]) + f' or "{m[3]}"', text
    )


def _translated(words: re.Match[str]) -> str:
    """What stands in Python for ``words``, a match of ``_WORDS``."""
    if words["kept"]:
        return words[0]
    if words["out"]:
        return "an open file as target"
    if words["command"]:
        return f"serialpack {words[0]}"
    given = [_argument(each) for each in re.findall(_ONE, words[0])]
    if words["options"]:
        return _joined(given)
    if given == [("trust", "True")]:  # many functions take it: none is named
        return _joined(given)
    name = words[0].split()[0]
    if name == "unpack" and not {each[0] for each in given} <= _OF_UNPACK:
        name = "convert"
    elif name == "unpack" and given[0][0] == "target":
        return f"unpack_archive(..., {given[0][1]})"
    return f"{name}(..., {_joined(given)})"


def _argument(said: str) -> tuple[str, str | None]:
    """The argument that an option is, and its value in Python; None where none was said."""
    option, _, value = said.partition(" ")
    name, spell = ARGUMENTS[option]
    if isinstance(spell, str):
        return name, spell
    if option == "-o" and "." in value:
        # By the ending of this name the command line tells the format of the target.
        return "to", _text(value.rpartition(".")[2])
    return name, spell(value) if value else None


def _joined(given: list[tuple[str, str | None]]) -> str:
    """Arguments as a call has them: the fields of ``shaping`` together, in one ``Shaping``, and an
    argument without a value by its name alone."""
    said: dict[str, list[str]] = {}
    for name, value in given:
        whole, _, field = name.partition(".")
        if value is None:
            said[f"Shaping.{field}" if field else re.sub(r"\[(.*)]", r'["\1"]', name)] = []
        elif field:
            said.setdefault(whole, []).append(f"{field}={value}")
        elif name.startswith("options["):
            said["options"] = [f"{{{_text(name[8:-1])}: {value}}}"]
        else:
            said[name] = [value]
    return ", ".join(
        f"{name}=Shaping({', '.join(values)})"
        if name == "shaping"
        else f"{name}={values[0]}"
        if values
        else name
        for name, values in said.items()
    )
