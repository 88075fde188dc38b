"""Whether small files that share blocks become columns."""

from __future__ import annotations

import json
from random import Random

from serialpack.auto.choice import Choice, choose, settle

RANDOM = Random(5)
WORDS = [f"{RANDOM.randrange(16**6):06x}" for _ in range(500)]


def records(size: int) -> bytes:
    """JSON files of about ``size`` bytes, a record each."""
    one: dict[str, object] = {}
    lines = []
    for number in range(size // 150):
        one = {"number": number, "name": " ".join(RANDOM.choices(WORDS, k=3))}
        one |= {"price": RANDOM.randrange(10**6) / 100, "sold": RANDOM.random() < 0.5}
        lines.append(json.dumps(one, indent=1))
    return "\n".join(lines).encode()


def settled(block: bytes, effort: int) -> Choice:
    choice = choose(effort=effort)
    return settle(choice, "json", lambda size: block[:size], many=True)


def test_files_of_a_kind_become_columns() -> None:
    choice = settled(records(3 << 20), 6)
    assert choice.chain.serializer.name == "columns"
    assert "of its files is" in choice.why


def test_files_that_come_again_stay_text_where_columns_save_next_to_nothing_of_them() -> None:
    once = records(800_000)
    block = b"\n".join(once.replace(b"1", b"%d" % n, 40) for n in range(16))
    assert len(block) > 7 << 20
    choice = settled(block, 6)
    assert choice.chain.serializer.name == "raw"
    assert choice.why == "a block of its files gains too little as columns"  # its front gains more
    assert settled(block, 9).chain.serializer.name == "columns"  # what is smaller, at any price
