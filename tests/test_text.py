"""Words for people: how many there are of what."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from serialpack.conversion.losses.rules import RULES
from serialpack.text import error_words, number_of, quoted, with_article


@pytest.mark.parametrize(
    ("count", "words", "said"),
    [
        (0, ("file",), "0 files"),
        (1, ("file",), "1 file"),
        (2345, ("file",), "2,345 files"),
        (1, ("entry", "entries"), "1 entry"),
        (2, ("entry", "entries"), "2 entries"),
    ],
)
def test_one_is_told_from_several(count: int, words: tuple[str, ...], said: str) -> None:
    assert number_of(count, *words) == said


@pytest.mark.parametrize(
    "said",
    ["a CSV", "an XML", "an ndjson", "a msgpack", "an npy", "a toml", "a UUID", "an int", "a set"],
)
def test_the_article_is_that_of_how_a_word_is_said(said: str) -> None:
    """It was "a ndjson file", and "an toml file"."""
    assert with_article(said.partition(" ")[2]) == said


@pytest.mark.parametrize("name", [name for name, rule in RULES.items() if rule.what])
def test_what_was_carried_has_words_for_one(name: str) -> None:
    one, several = RULES[name].what
    assert one != several


def test_the_words_of_an_error_are_one_line_or_the_name_of_its_class() -> None:
    assert error_words(ValueError("a table:\n  a  b\n")) == "a table: a b"
    assert error_words(KeyError()) == "KeyError"


@pytest.mark.parametrize(
    "word",
    [
        "a",
        "a b",
        "it's",
        "$x",
        "",
        "é",
        "n\nl",
        "\x1b[31m",
        "\u202e",
        "it's\n\\",
        "\udcff",
        "é\udcff",
    ],
)
def test_a_word_of_a_command_is_the_word_when_a_shell_has_read_it(word: str) -> None:
    """Names with what no terminal shows were escaped where a line was printed: in the command of a
    hint they named no file."""
    typed = quoted(word)
    assert typed.isprintable()
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not here")
    found = subprocess.run([bash, "-c", f"printf %s {typed}"], capture_output=True, check=True)
    assert found.stdout.decode("utf-8", "surrogateescape") == word


def test_a_word_that_is_no_name_of_a_file_is_quoted_all_the_same() -> None:
    """Half a character, as keys of JSON can have."""
    assert quoted("\ud800") == r"$'\xed\xa0\x80'"
