"""Ask a real bash, zsh or fish what it offers for a command line that is being typed."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

COMPLETIONS = Path(__file__).parents[2] / "completions"

#: How long a shell may take to answer.
PATIENCE = 30.0

ENVIRONMENT = {"PATH": os.environ.get("PATH", os.defpath), "TERM": "dumb", "LC_ALL": "C.UTF-8"}

#: The program as the shells know it: it only writes down how it was called.
_STAND_IN = r"""
serialpack() { printf '%s\n' "$@" END > "$ANSWER.part"; mv "$ANSWER.part" "$ANSWER"; }
"""

_BASH = r"""
PS1=
source "$COMPLETIONS/serialpack.bash"
"""

_BASH_PROBE = r"""
probe() {
    _serialpack "$@"
    printf '%s\n' "${COMPREPLY[@]}" END > "$ANSWER.part"
    mv "$ANSWER.part" "$ANSWER"
    COMPREPLY=()
}
complete -F probe serialpack
"""

_ZSH = r"""
PS1=
unsetopt prompt_cr prompt_sp
fpath=($COMPLETIONS $fpath)
autoload -Uz compinit
compinit -u -d $DUMP
"""

# compadd is the one command by which everything is offered; with -O, -A and -D it only looks.
_ZSH_PROBE = r"""
zmodload zsh/zutil
compadd() {
    if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then
        builtin compadd "$@"
        return
    fi
    local -a hits folder rest
    zparseopts -E p:=folder P:=rest
    builtin compadd -A hits "$@"
    (( $#hits )) && print -rl -- $IPREFIX${folder[2]}${(Q)^hits} >> $ANSWER.part
    builtin compadd "$@"
}
probe() {
    : > $ANSWER.part
    zle list-choices
    print END >> $ANSWER.part
    mv $ANSWER.part $ANSWER
}
zle -N probe
bindkey '^I' probe
"""

_SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], _BASH, _BASH_PROBE),
    "zsh": (["zsh", "-f", "-i"], _ZSH, _ZSH_PROBE),
}


class Shell:
    """One shell with the committed completion, no settings and a home of its own."""

    def __init__(self, name: str, home: Path) -> None:
        if sys.platform == "win32" or shutil.which(name) is None:
            pytest.skip(f"{name} is not installed here")
        self.name = name
        self._home = home
        self._answer = home / "answer"
        self._env = {
            **ENVIRONMENT,
            "HOME": str(home),
            "COMPLETIONS": str(COMPLETIONS),
            "ANSWER": str(self._answer),
            # What zsh knows of all completions, which takes it most of its start to find out: once
            # for the tests of a process.
            "DUMP": str(home.parent / "zcompdump"),
        }

    def offers(self, line: str, folder: Path) -> set[str]:
        """The whole words offered at the cursor (``|``, or the end of ``line``)."""
        if self.name == "fish":
            found = self._fish(line, folder)
        else:
            before, _, after = line.partition("|")
            command, setup, probe = _SHELLS[self.name]
            keys = before + after + "\x02" * len(after) + "\t"
            found = self._typed(command, setup + probe, keys, folder)
            if self.name == "bash":
                # Readline puts what it is given behind the last of these.
                word = before.split(" ")[-1]
                kept = word[: max(word.rfind(":"), word.rfind("=")) + 1]
                found = [kept + each for each in found]
        return {word.removesuffix("/") for word in found}

    def arguments(self, line: str, folder: Path) -> list[str]:
        """The words that the program gets when ``line``, a tab and return are typed."""
        command, setup, _ = _SHELLS[self.name]
        return self._typed(command, setup + _STAND_IN, f"{line}\t\n", folder)

    def _fish(self, line: str, folder: Path) -> list[str]:
        if "|" in line:
            pytest.skip("fish is asked without a terminal: its cursor is always at the end")
        code = f"source $COMPLETIONS/serialpack.fish; complete -C {_quoted(line)}"
        done = subprocess.run(
            ["fish", "--no-config", "-c", code],
            cwd=folder,
            env=self._env,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=True,
        )
        assert done.stderr == ""
        return [found.split("\t")[0] for found in done.stdout.splitlines()]

    def _typed(self, command: list[str], setup: str, keys: str, folder: Path) -> list[str]:
        """Type ``keys`` into an interactive shell, and read what ``setup`` has it write."""
        import pty

        script, ready = self._home / "setup", self._home / "ready"
        script.write_text(setup)
        for old in (ready, self._answer):
            old.unlink(missing_ok=True)
        leader, follower = pty.openpty()
        shell = subprocess.Popen(
            command,
            cwd=folder,
            env={**self._env, "SETUP": str(script), "READY": str(ready)},
            stdin=follower,
            stdout=follower,
            stderr=follower,
            start_new_session=True,
        )
        os.close(follower)
        try:
            os.write(leader, b'. "$SETUP"; : > "$READY"\n')
            said = _wait(leader, ready.exists)
            os.write(leader, keys.encode())
            _wait(leader, self._answer.exists, said)
        finally:
            shell.kill()
            shell.wait()
            os.close(leader)
        *found, end = self._answer.read_text().splitlines()
        assert end == "END"
        return [each for each in found if each]


def _quoted(text: str) -> str:
    """``text`` as one word of fish."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _wait(leader: int, done: Callable[[], bool], said: bytes = b"") -> bytes:
    """Read what the terminal shows until ``done``; the shell must never wait for us to read."""
    deadline = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < deadline, f"no answer; the terminal shows: {said!r}"
        if select.select([leader], [], [], 0.02)[0]:
            said += os.read(leader, 4096)
    return said
