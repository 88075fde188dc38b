"""``--no-verify`` leaves out the proof and nothing else: what is told, refused and written is the
same, whatever the values and the target.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from itertools import cycle, islice
from typing import Any

import pytest

import serialpack
from serialpack.conversion.targets.writers import writers, written
from tests.conversion.test_matrix import NOT_HELD
from tests.fidelity.values import USUAL

#: What only the text of a source says, which no value of Python shows.
TEXTS = {
    "key twice": ("ndjson", b'{"a":1,"a":2}\n'),
    "digits": ("ndjson", b'{"a":0.12345678901234567890123}\n'),
    "negative zero": ("ndjson", b'{"a":-0}\n'),
    "overflow": ("ndjson", b'{"a":1e400}\n'),
    "lone surrogate": ("ndjson", b'{"a":"\\ud800"}\n'),
    "key twice in an array": ("json", b'[{"a":1},{"a":1,"a":2}]'),
    "times": ("toml", b"a = 2020-01-02T03:04:05\nb = 03:04:05\nc = 2020-01-02\n"),
    "many digits in yaml": ("yaml", b"a: 0.12345678901234567890123\n"),
    "one list": ("json", b'{"a":[1]}'),
    "content of text": ("json", b'{"a":{"#content":["x"]}}'),
    "content of the root": ("json", b'{"#content":["x","y"]}'),
    "content in order": ("json", b'{"a":{"@b":"1","#content":["x",{"y":null}],"z":2}}'),
    "content that alternates": ("json", b'{"a":{"#content":["x",{"y":1},"z","w"]}}'),
    "lone surrogate in a list": ("ndjson", b'{"a":["\\ud800"]}\n{"a":["\\\\ud800"]}\n'),
    "lone surrogate in a key": ("ndjson", b'{"a":{"\\ud800":1}}\n{"a":[]}\n'),
}
#: The records in which a value stands.
AROUND: dict[str, Callable[[Callable[[], Any]], list[Any]]] = {
    "alone": lambda make: [{"v": make()}],
    "beside text": lambda make: [{"v": "text"}, {"v": make()}],
    "in a list": lambda make: [{"v": [make(), make()]}],
}


@pytest.mark.slow
@pytest.mark.parametrize("target", written())
def test_the_proof_changes_nothing_that_is_told(target: str) -> None:
    """Lists of one to XML, NaN with bits of its own, tuples and zoned times to CBOR, and keys that
    stand twice were changed in silence without the proof, and lone surrogates in lists refused by
    it alone."""
    tried = list(TEXTS.items())
    writer = writers("pickle", {})[-1]
    # Each value stands in one of these ways before each target, in all of them before some.
    turns = islice(cycle(AROUND.items()), written().index(target) % len(AROUND), None)
    for case, (name, around) in zip(USUAL, turns):  # noqa: B905 - the turns do not end
        try:
            tried.append((f"{case.name}, {name}", ("pickle", writer.dump(around(case.make)))))
        except NOT_HELD:
            continue
    assert len(tried) > 100
    for name, (source, data) in tried:
        assert _told(data, source, target, verify=True) == _told(
            data, source, target, verify=False
        ), f"{source} -> {target}, {name}"


def _told(data: bytes, source: str, target: str, *, verify: bool) -> tuple[Any, ...]:
    """What is told of a conversion, and written; of a refusal where, and of what kind."""
    out = io.BytesIO()
    how: dict[str, Any] = {"format": source, "to": target, "trust": True, "verify": verify}
    try:
        report = serialpack.convert(io.BytesIO(data), out, **how)
    except serialpack.ValueRefusedError as refused:
        return ("refused", refused.record)
    except serialpack.SerialpackError as refused:
        return ("refused", type(refused))
    return report.carried, report.losses, report.back, out.getvalue()
