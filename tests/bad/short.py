"""The bad and the unsupported files of short members."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from serialpack.container.frames import (
    SHORT,
    START_OWN,
    START_ZSTD,
    checksum,
    pack_body,
    write_frame,
)
from tests.bad.draft import COLUMNS, DATA, NONE, RAW, ZSTD, Bad, D, T, U, zstd_frame

#: The places of the objects in a short member.
CHAIN, FORMAT, NAME, TIME, WRITER, FLAGS, RECORDS, SIZE, SERIALIZED, CHECK, SOURCE, REST = range(12)


#: What a reader does not know.
QUANTUM = {"needs": ["quantum"]}


def built(
    fields: dict[int, Any] | None = None,
    *,
    zstd: bool = True,
    version: int = 1,
    body: Callable[[bytes], bytes] = lambda body: body,
    payload: Callable[[bytes], bytes] = lambda payload: payload,
    said: int | None = None,
    check: Callable[[bytes], bytes] = lambda frame: frame,
) -> bytes:
    """A short member; ``fields``: those that are others than in a sound one. ``said``: what it says
    of the bytes of its part. What is given as a function bends what would be written."""
    data = DATA[0]
    part = payload(zstd_frame(data) if zstd else data)
    chain = [RAW, [ZSTD, 3]] if zstd else [RAW, NONE]
    objects: list[Any] = [chain, 2, "x.ndjson", 5, 100, 2, 3, len(data), None, checksum(data)]
    for place, value in (fields or {}).items():
        while len(objects) <= place:
            objects.append(None)
        objects[place] = value
    content = struct.pack("<IB", len(part) if said is None else said, version)
    frame = write_frame(SHORT, body(content + pack_body(*objects)), part)
    return (START_ZSTD if zstd else START_OWN) + check(frame) + part


#: The dictionary beside the files; a golden one.
DICTIONARY = Path(__file__).parent / "kinds.dict"
NAMED = [checksum(DICTIONARY.read_bytes()), DICTIONARY.name]


def of_dictionary_5(frame: bytes) -> bytes:
    """A frame that names the dictionary 5; its descriptor, and then its number."""
    return frame[:4] + bytes([frame[4] | 1]) + b"\5" + frame[5:]


#: A text that the serializer columns keeps; not flagged as exact, and without a source check.
TEXT = b"\0" + zstd_frame(DATA[0])
AS_COLUMNS = {
    "fields": {
        CHAIN: [[COLUMNS, 3], NONE],
        FLAGS: 0,
        SERIALIZED: len(TEXT),
        CHECK: checksum(TEXT),
    },
    "payload": lambda _: TEXT,
}


def of(place: int, value: Any) -> dict[str, Any]:
    """One object is another."""
    return {"fields": {place: value}}


def short_members() -> Iterator[Bad]:
    """Rules of short members; one envelope stands for both, where they have the same rule."""
    wrong: list[tuple[str, str, str, str, dict[str, Any]]] = [
        ("version", "The version is 1.", U, "version 2", {"version": 2}),
        ("checksum", "The checksum is right.", D, "checksum", {"check": lambda f: f[:-1] + b"!"}),
        ("cut", "The body has payload and version.", D, "breaks off", {"body": lambda _: b"\1\0"}),
        ("nothing", "There are 10 objects or more.", D, "malformed", {"body": lambda b: b[:5]}),
        ("half", "An object is whole.", D, "malformed", {"body": lambda b: b[:-1]}),
        (
            "many",
            "There are 12 objects or fewer.",
            D,
            "malformed",
            {"body": lambda b: b + b"\xc0\x80\xc0"},
        ),
        ("huge", "A part has at most 16 MiB.", D, "of payload", {"said": 1 << 25}),
        ("truncated", "The part is there.", T, "truncated", {"said": 5000}),
        ("chain", "A chain has serializer and codec.", U, "no codec", of(CHAIN, [RAW])),
        ("codec", "A stage's number is known.", U, "999", of(CHAIN, [RAW, 999])),
        ("name", "A name is a string.", D, "name", of(NAME, 7)),
        ("time", "A time is an integer.", D, "'t'", of(TIME, "now")),
        ("writer", "A writer is a number.", D, "'w'", of(WRITER, "me")),
        ("flag", "A flag is known.", U, "flag 64", of(FLAGS, 66)),
        ("continued", "No block before it can go on in it.", U, "flag 4", of(FLAGS, 6)),
        ("records", "There are at most 67108864 records.", D, "records", of(RECORDS, 1 << 40)),
        ("size", "A block restores to at most 64 MiB.", D, "the most is", of(SIZE, 1 << 40)),
        ("serialized", "A count is 0 or more.", D, "no", of(SERIALIZED, -1)),
        ("restored", "A part restores to what is said.", D, "payload", of(SERIALIZED, 5)),
        ("check", "The content has its checksum.", D, "checksum", of(CHECK, 5)),
        ("source", "A source check is a count.", D, "malformed", of(SOURCE, "x")),
        ("rest", "The rest is a map.", D, "malformed", of(REST, [1])),
        ("rest-pairs", "A map is no array.", D, "last fields", of(REST, [["m", {"k": "v"}]])),
        ("rest-text", "A map is no text.", D, "last fields", of(REST, "")),
        ("format-negative", "A format is 0 or more.", D, "below 0", of(FORMAT, -1)),
        ("writer-negative", "A writer is 0 or more.", D, "below 0", of(WRITER, -1)),
        ("twice", "What has a place is not in the rest.", D, "last fields", of(REST, {"n": "y"})),
        (
            "need",
            "A reader knows every entry of needs.",
            U,
            "'quantum'",
            of(REST, QUANTUM),
        ),
        ("meta", "Each key's value has its type.", D, "'m'", of(REST, {"m": [1]})),
        ("path", "A path has no part '..'.", D, "path", {"fields": {FLAGS: 18, NAME: "../a"}}),
        ("dictionary", "What needs one names it.", D, "'d'", {"fields": {FLAGS: 34}}),
        (
            "dictionary-own",
            "A dictionary is for zstd.",
            D,
            "no dictionary",
            {"fields": {FLAGS: 34, SOURCE: None, REST: {"d": [5, "x"]}}, "zstd": False},
        ),
        (
            "dictionary-other",
            "A frame names the dictionary that the header does.",
            D,
            "asks for dictionary 5",
            {"fields": {FLAGS: 34, SOURCE: None, REST: {"d": NAMED}}, "payload": of_dictionary_5},
        ),
        ("envelope", "The chain is of the envelope.", D, "envelope", of(CHAIN, [RAW, NONE])),
        ("exact", "raw is exact.", D, "not exact", of(FLAGS, 0)),
        ("columns", "columns are exact.", D, "not exact", {**AS_COLUMNS, "zstd": False}),
    ]
    for name, sentence, error, words, how in wrong:
        kind = "unsupported" if error == U else "bad"
        yield Bad(f"{kind}-short-{name}", sentence, error, words, partial(built, **how))
    yield Bad(
        "bad-short-junk",
        "Behind a member stands another one, or the file ends.",
        D,
        "no container",
        lambda: built(zstd=False) + b"junk junk",
    )
    yield Bad(
        "bad-short-entry-among-files",
        "All members are entries, or none is.",
        D,
        "among members",
        lambda: built() + built({FLAGS: 18, NAME: "a/b"}),
    )
