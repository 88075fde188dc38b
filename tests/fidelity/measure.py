"""What becomes of each value under one serializer: ``same``, or ``refused`` as what; else a fault.

    echo SERIALIZER START | python -m tests.fidelity.measure

prints a line of JSON for each value as soon as it is known, so that whoever started it knows which
value was tried when a library took the whole process down; and then how that ended. Each line that
is read has a process of its own, a fork of one that has imported what all need.
"""

from __future__ import annotations

import atexit
import io
import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import serialpack
from serialpack.errors import SerialpackError, ValueRefusedError
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.base import RecordSerializer
from serialpack.stages.chain import parse_stage
from serialpack.values.equality import difference
from tests.fidelity.values import CASES

WAYS = ("api", "files")
TRIALS = [(way, case) for way in WAYS for case in CASES]
ROOT = Path(__file__).parents[2]

#: How long all values may take under one serializer, in seconds: one that hangs is a fault.
PATIENCE = 240


class Outcome(NamedTuple):
    """``what`` is ``same``, ``refused``, ``changed`` or ``crashed``; ``kind`` what was refused."""

    name: str
    what: str
    kind: str = ""
    said: str = ""


def spellings() -> list[str]:
    """Every serializer of values that is installed, once for each of its parameters."""
    found = []
    for entry in SERIALIZERS:
        cls = SERIALIZERS.cls(entry.name)
        if not issubclass(cls, RecordSerializer) or cls.missing(entry.name) is not None:
            continue
        if cls.params:
            only = cls.params[0]
            found += [f"{entry.name}:{v}" for v in range(only.low, only.high + 1)]
        else:
            found.append(entry.name)
    return found


def is_default(spelling: str) -> bool:
    """Whether the parameters are what they are by default, for which the declarations hold."""
    name, values = parse_stage(SERIALIZERS, spelling)
    return values == tuple(p.default for p in SERIALIZERS.cls(name).params)


def class_of(spelling: str) -> type[RecordSerializer]:
    cls = SERIALIZERS.cls(parse_stage(SERIALIZERS, spelling).name)
    assert issubclass(cls, RecordSerializer)
    return cls


def outcomes(spelling: str) -> dict[str, tuple[Outcome, ...]]:
    """What becomes of every value, in each of ``WAYS``, tried in a process of its own."""
    found: list[Outcome] = []
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    while len(found) < len(TRIALS):
        server.stdin.write(f"{spelling} {len(found)}\n")
        server.stdin.flush()
        while type(told := json.loads(server.stdout.readline())) is list:
            found.append(Outcome(*told))
        if len(found) < len(TRIALS):
            found.append(Outcome(TRIALS[len(found)][1].name, "crashed", said=told))
    count = len(CASES)
    return {way: tuple(found[n * count : (n + 1) * count]) for n, way in enumerate(WAYS)}


def _tried(spelling: str, way: str, make: Any) -> Outcome:
    cls = class_of(spelling)

    def made() -> Any:
        value = make()
        if cls.tabular:
            return [{"v": value}]
        return {"v": value} if "bare" in cls.cannot else value

    try:
        if way == "api":
            back = _through_api(made(), spelling)
            again = made()
        else:
            again, back = _through_files(made(), spelling)
    except ValueRefusedError as refused:
        return Outcome("", "refused", refused.kind, str(refused)[:200])
    except SerialpackError as error:
        return Outcome("", "crashed", said=f"{type(error).__name__}: {error}"[:200])
    lost = difference(again, back, identity=cls.identity)
    return (
        Outcome("", "same") if lost is None else Outcome("", "changed", lost.kind, str(lost)[:200])
    )


def _through_api(value: Any, spelling: str) -> Any:
    return serialpack.loads(serialpack.dumps(value, spelling), trust=True)


def _through_files(value: Any, spelling: str) -> tuple[Any, Any]:
    """A pickle, which holds every value, is packed under the serializer and unpacked again.

    What is in the pickle, and what came back: an object may leave parts of it out itself.
    """
    packed, unpacked = io.BytesIO(), io.BytesIO()
    cls = class_of(spelling)
    records = value if cls.tabular else [value]
    try:
        source = b"".join(pickle.dumps(record, 5) for record in records)
    except (RecursionError, TypeError, pickle.PicklingError):
        raise ValueRefusedError("no pickle holds it", kind="value") from None
    serialpack.pack(
        io.BytesIO(source), packed, serializer=spelling, format="pickle", trust=True, threads=1
    )
    packed.seek(0)
    serialpack.unpack(packed, unpacked, trust=True, threads=1)
    unpacked.seek(0)
    found = [[pickle.load(file) for _ in records] for file in (io.BytesIO(source), unpacked)]
    before, after = (each if cls.tabular else each[0] for each in found)
    return before, after


@cache
def _server() -> subprocess.Popen[str]:
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.fidelity.measure"],
        cwd=ROOT,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # no threads before it forks
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def close() -> None:
        with server:
            pass

    atexit.register(close)
    return server


def _serve() -> None:
    for way in WAYS:  # imports what each of them needs
        _tried("json", way, dict)
    assert threading.active_count() == 1
    for line in sys.stdin:
        with tempfile.TemporaryFile() as errors:
            child = os.fork()
            if not child:
                signal.alarm(PATIENCE)
                os.dup2(errors.fileno(), 2)
                code = 1
                try:
                    _main(*line.split())
                    code = 0
                except BaseException:
                    traceback.print_exc()
                finally:
                    os._exit(code)
            _, status = os.waitpid(child, 0)
            errors.seek(0)
            last = (errors.read().decode(errors="replace").splitlines() or [""])[-1]
        said = f"exit {os.waitstatus_to_exitcode(status)}: {last}"
        sys.stdout.write(json.dumps(said) + "\n")
        sys.stdout.flush()


def _main(spelling: str, start: str) -> None:
    for way, case in TRIALS[int(start) :]:
        outcome = _tried(spelling, way, case.make)
        sys.stdout.write(json.dumps(outcome._replace(name=case.name)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _serve()
