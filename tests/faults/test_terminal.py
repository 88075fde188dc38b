"""What a person at a terminal sees, on a real pseudo-terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import serialpack
from tests.faults.conftest import KIB, Start, records
from tests.faults.terminal import Terminal, ended
from tests.noise import noise


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    made = Terminal()
    yield made
    made.close()


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "rows.ndjson"
    path.write_bytes(records(100 * KIB))
    serialpack.pack(path, tmp_path / "rows.ndjson.spk")
    return path


def test_packing_to_a_terminal_is_refused_in_one_line(
    start: Start, text: Path, terminal: Terminal
) -> None:
    process = start("pack", text, "-o", "-", stdout=terminal.slave, stderr=terminal.slave)
    ended(process, terminal, 4)
    (line,) = terminal.lines
    assert line.startswith("serialpack: ")
    assert "binary output to a terminal" in line
    assert "-f writes it all the same" in line


def test_packing_from_a_keyboard_to_a_terminal_is_refused_before_a_key_is_typed(
    start: Start, terminal: Terminal
) -> None:
    one = terminal.slave
    ended(start("pack", "-", stdin=one, stdout=one, stderr=one), terminal, 4)
    assert len(terminal.lines) == 1


def test_force_packs_to_a_terminal(start: Start, text: Path, terminal: Terminal) -> None:
    ended(start("pack", "-f", text, "-o", "-", stdout=terminal.slave), terminal)
    assert b"\x89SPK" in terminal.screen


def test_unpacking_binary_data_to_a_terminal_is_refused_in_one_line_unless_forced(
    start: Start, tmp_path: Path
) -> None:
    (tmp_path / "x").write_bytes(b"\x89PNG\r\n\x1a\n" + noise(1000))
    serialpack.pack(tmp_path / "x", tmp_path / "x.spk")
    refusing = Terminal()
    one = refusing.slave
    ended(start("unpack", "x.spk", "-o", "-", stdout=one, stderr=one), refusing, 4)
    (line,) = refusing.lines
    assert "binary output to a terminal" in line
    forced = Terminal()
    ended(start("unpack", "-f", "x.spk", "-o", "-", stdout=forced.slave), forced)
    assert b"PNG" in forced.screen


def test_text_is_unpacked_to_a_terminal(start: Start, tmp_path: Path, terminal: Terminal) -> None:
    (tmp_path / "x").write_text("Grüße\n\tzwei\n")
    serialpack.pack(tmp_path / "x", tmp_path / "x.spk")
    ended(start("unpack", "x.spk", "-o", "-", stdout=terminal.slave), terminal)
    assert terminal.screen.decode() == "Grüße\r\n\tzwei\r\n"


TABLES = [["inspect", "rows.ndjson.spk"], ["inspect", "rows.ndjson"], ["inspect", "--stages"]]


@pytest.mark.parametrize("args", TABLES, ids=" ".join)
def test_a_table_on_a_terminal_is_in_colour_unless_told_otherwise(
    start: Start, text: Path, args: list[str]
) -> None:
    assert text.exists()
    shown = {}
    for env in ({"TERM": "xterm-256color"}, {"NO_COLOR": "1"}, {"TERM": "dumb"}):
        terminal = Terminal(columns=300)
        ended(start(*args, env=env, stdout=terminal.slave), terminal)
        shown[next(iter(env.values()))] = terminal
    assert b"\x1b[1m" in shown["xterm-256color"].screen
    assert b"\x1b" not in shown["1"].screen
    assert b"\x1b" not in shown["dumb"].screen
    assert shown["1"].lines == shown["dumb"].lines
    words = [line.split() for line in shown["1"].lines]
    assert [line.split() for line in shown["xterm-256color"].lines] == words


def test_a_table_in_a_pipe_has_no_colour(start: Start, text: Path) -> None:
    assert text.exists()
    for args in TABLES:
        out, _ = start(*args, env={"TERM": "xterm-256color"}).communicate(timeout=60)
        assert out
        assert b"\x1b" not in out


EVIL = {
    "title": "t\x1b]0;owned\x07",
    "colour": "c\x1b[31m",
    "markup": "m[red]x[y]",
    "unbalanced": "u[",
    "newline": "n\nserialpack: forged",
    "c1": "c\u009b31m",
    "bidi": "b\u202egnp.exe",
    "emoji code": "e:bomb:",
}
SHOWN = {
    "title": r"t\x1b]0;owned\x07",
    "colour": r"c\x1b[31m",
    "newline": r"n\nserialpack: forged",
    "c1": r"c\x9b31m",
    "bidi": r"b\u202egnp.exe",
}


def check_harmless(terminal: Terminal) -> None:
    screen = terminal.screen
    assert re.sub(rb"\x1b\[[0-9;]*m", b"", screen).count(b"\x1b") == 0
    assert b"\x1b[31m" not in screen
    assert b"\x07" not in screen
    assert not any(line.startswith("serialpack: forged") for line in terminal.lines)
    assert "\u009b" not in screen.decode()
    assert "\u202e" not in screen.decode()
    for kind, name in EVIL.items():
        assert any(SHOWN.get(kind, name) in line for line in terminal.lines), terminal.lines


def test_names_of_files_never_act_on_a_terminal(start: Start, tmp_path: Path) -> None:
    folder = tmp_path / "f"
    folder.mkdir()
    files = [folder / name for name in EVIL.values()]
    for path in files:
        path.write_bytes(b"data")
    packed = [f"{path}.spk" for path in files]
    for args, code in (
        (["pack", *files], 0),
        (["pack", *files], 1),
        (["pack", "--dry-run", "-v", "-f", "--stats", *files], 0),
        (["inspect", *packed], 0),
        (["inspect", *files], 0),
        (["unpack", *files], 3),
        (["unpack", "--test", *packed], 0),
    ):
        terminal = Terminal(columns=200)
        one = terminal.slave
        ended(start(*args, env={"TERM": "xterm"}, stdout=one, stderr=one), terminal, code)
        check_harmless(terminal)


@pytest.mark.parametrize("kind", ["identity", "meta"])
def test_words_stored_in_a_container_never_act_on_a_terminal(
    start: Start, tmp_path: Path, kind: str
) -> None:
    (tmp_path / "x").write_bytes(b"data")
    with (tmp_path / "x.spk").open("wb") as packed:  # a member for each
        for word in EVIL.values():
            if kind == "meta":
                serialpack.pack(tmp_path / "x", packed, meta={f"{word} key": f"{word} value"})
            else:
                serialpack.pack(tmp_path / "x", packed, identity=(word, 0))
    for env in {"TERM": "xterm"}, {"NO_COLOR": "1"}:
        terminal = Terminal(columns=200)
        one = terminal.slave
        ended(start("inspect", "x.spk", env=env, stdout=one, stderr=one), terminal)
        check_harmless(terminal)
        if kind == "meta":
            assert any("forged key" in line and "forged value" in line for line in terminal.lines)


def test_what_is_shown_of_records_never_acts_on_a_terminal(start: Start, tmp_path: Path) -> None:
    """A line of a file called NDJSON can hold anything."""
    (tmp_path / "x.ndjson").write_bytes(b'{"a": "\x1b]0;owned\x07\x9b"}\n{"b": [1, 2]}\n')
    serialpack.pack(tmp_path / "x.ndjson", tmp_path / "x.spk", format="ndjson")
    for env in {"TERM": "xterm"}, {"NO_COLOR": "1"}, {"TERM": "dumb"}:
        terminal = Terminal()
        one = terminal.slave
        process = start("inspect", "--head", "2", "x.spk", env=env, stdout=one, stderr=one)
        process.wait(60)
        terminal.close()
        assert process.returncode in (0, 4)
        assert b"\x1b]" not in terminal.screen
        assert b"\x07" not in terminal.screen
        if process.returncode == 0:
            assert any("[1, 2]" in line for line in terminal.lines)
