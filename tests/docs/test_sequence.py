"""All commands of the README, one after the other in one folder: none finds its output there."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest

import serialpack
from tests.docs.commands import run_line
from tests.docs.test_conversions import FILES, ROOT

#: What others serve, is measured, or takes a terminal.
_ELSEWHERE = re.compile(r"s3://|https://|tcp://|serialpack bench|\| jq|^(make|pip) ")
_LINES = b"".join(b'{"id":%d,"name":{"first":"x%d"}}\n' % (n, n % 7) for n in range(1100))
#: Exit codes other than 0: a refusal that is shown, and of a file that is damaged.
_CODES = {"unpack --strict": 4, "unpack --salvage": 3, "unpack --test": 3}


def commands() -> list[str]:
    readme = (ROOT / "README.md").read_text("utf-8")
    lines = re.findall(r"^    ((?:serialpack|tar|cat) .*)$", readme, re.MULTILINE)
    found = [line.partition(" #")[0].strip() for line in lines]
    return [each for each in found if not _ELSEWHERE.search(each)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The files that the commands are about."""
    for library in ("pyarrow", "yaml", "bson", "numpy", "h5py", "xmltodict"):
        pytest.importorskip(library)
    import numpy as np

    for name, data in FILES.items():
        (tmp_path / name).write_bytes(data)
    for name in ("data", "folder", "photos"):
        (tmp_path / name).mkdir()
        for number in range(60):
            text = f'{{"id":{number},"name":"x{number * 7919 % 1000}","street":"Bahnhofstrasse"}}'
            (tmp_path / name / f"{number}.json").write_text(text)
    (tmp_path / "folder/a.csv").write_text("a,b\n1,2\n")
    (tmp_path / "data.json").write_bytes(b'[{"a":1,"b":"x"},{"a":2,"b":"y"}]')
    (tmp_path / "lists.json").write_bytes(b'{"users":[{"a":1}],"rows":[{"b":2}]}')
    (tmp_path / "logs.ndjson").write_bytes(_LINES)
    (tmp_path / "people.ndjson").write_bytes(b'{"id":"ada","born":1815}\n')
    (tmp_path / "feed.xml").write_bytes(b"<feed><a>1</a><a>2</a></feed>")
    (tmp_path / "cells.csv").write_bytes(b"a,b,c\n1,2.5,x\n")
    np.savez_compressed(tmp_path / "arrays.npz", mask=np.array([1, 0], "u1"), a=np.zeros(3))
    for name in ("field", "volume"):
        np.save(tmp_path / f"{name}.npy", np.arange(4000).reshape(40, 100))
    np.arange(4000, dtype="f4").tofile(tmp_path / "samples.f32")
    np.arange(4000, dtype="f4").tofile(tmp_path / "brain.nii")
    base = sqlite3.connect(tmp_path / "app.db")
    base.executescript("create table users(a); insert into users values(1); create table t(b)")
    base.close()
    hidden = tmp_path / "hidden"
    hidden.write_text('{"run/field": [1, 2], "other": [0.5]}')
    serialpack.convert(hidden, tmp_path / "data.h5", to="hdf5", format="json")
    hidden.write_text('{"_id":{"$oid":"507f1f77bcf86cd799439011"},"raw":{"$binary":'
                      '{"base64":"AP8=","subType":"00"}}}')  # fmt: skip
    serialpack.convert(hidden, tmp_path / "events.bson", to="bson", format="json", tagged=True)
    serialpack.pack(tmp_path / "logs.ndjson", hidden, force=True, block_size=1 << 12)
    (tmp_path / "torn.spk").write_bytes(hidden.read_bytes()[:-700])
    hidden.unlink()
    return tmp_path


@pytest.mark.slow
def test_no_command_meets_the_output_of_another(folder: Path) -> None:
    """``again.json`` was written three times, ``data.json`` and ``logs.ndjson`` packed twice."""
    wrong = []
    for command in commands():
        done = run_line(command, folder)
        code = next((code for words, code in _CODES.items() if words in command), 0)
        if done.returncode != code or b"exists already" in done.stderr:
            wrong.append((command, done.returncode, done.stderr.decode()))
    assert not wrong, "\n".join(map(str, wrong))
