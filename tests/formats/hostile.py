"""Bytes that are no source, or a trap: what packing them says, here and on the command line."""

from __future__ import annotations

import io
import resource
import subprocess
import sys
from pathlib import Path

import pytest

import serialpack
from serialpack.errors import SerialpackError

#: What a refusal may take, beside what Python and the libraries take to be there at all.
SECONDS = 20
MEMORY = 400 << 20


def said(data: bytes, fmt: str, serializer: str | None = None) -> SerialpackError:
    """The error that packing ``data`` raises, under the serializer of the format's own name."""
    with pytest.raises(SerialpackError) as caught:
        serialpack.pack(
            io.BytesIO(data), io.BytesIO(), serializer=serializer or fmt, format=fmt, threads=1
        )
    assert "\n" not in str(caught.value)
    return caught.value


def on_the_command_line(
    tmp_path: Path, data: bytes, fmt: str, serializer: str | None = None
) -> tuple[int, str]:
    """Exit code and message, of a process that may take only so much time and memory."""
    source = tmp_path / f"source.{fmt}"
    source.write_bytes(data)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    command = [
        sys.executable,
        "-m",
        "serialpack",
        "pack",
        "--threads",
        "1",
        "-s",
        serializer or fmt,
    ]
    done = subprocess.run(
        [*command, "--from", fmt, "-o", str(tmp_path / "out.spk"), str(source)],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        preexec_fn=limit,
    )
    assert not (tmp_path / "out.spk").exists()
    return done.returncode, done.stderr
