"""Makes the bad and the unsupported files: each breaks one rule of man/spk.5, and no other.

``python tests/bad/make.py`` writes those that are not there yet, with a line each in
MANIFEST.tsv, and never changes one that is. All checksums in them are right, unless a wrong one
is what the file is for: what is tested is the rule, not the checksum.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from serialpack.container.frames import START_OWN
from tests.bad.archives import archives
from tests.bad.both_envelopes import both_envelopes
from tests.bad.draft import Bad, D, N, T, bent, header, zstd_frame
from tests.bad.in_place import blocks_in_place
from tests.bad.one_envelope import one_envelope
from tests.bad.part_chains import part_chains
from tests.bad.short import short_members
from tests.manifest import rows_of

HERE = Path(__file__).parent
MANIFEST = HERE / "MANIFEST.tsv"


def bad_files() -> Iterator[Bad]:
    """Every file there must be."""
    for zstd, name in ((True, "zstd"), (False, "own")):
        for bad in both_envelopes():
            made = bent(bad[4], zstd=zstd)
            yield Bad(f"{bad[0]}-{name}", bad[1], bad[2], bad[3], made)
    yield from one_envelope()
    yield from short_members()
    yield from blocks_in_place()
    yield from archives()
    yield from part_chains()
    sound = bent(lambda _: None)
    yield Bad("bad-empty-file", "A file holds at least one member.", N, "empty", lambda: b"")
    yield Bad(
        "bad-only-the-start", "A header follows the start.", T, "truncated", lambda: START_OWN
    )
    yield Bad(
        "bad-plain-zstd",
        "The empty zstd frame is followed by a header, else it is zstd's own file.",
        N,
        "zstd",
        lambda: zstd_frame(b"plain"),
    )
    yield Bad(
        "bad-header-as-second-member",
        "A second member must be whole too.",
        T,
        "truncated",
        lambda: sound() + sound()[:40],
    )
    yield Bad(
        "bad-entry-among-files",
        "All members are entries, or none is.",
        D,
        "among members",
        lambda: sound() + bent(header(e="a/b", needs=["entry"]))(),
    )
    yield Bad(
        "bad-junk-between-members",
        "Nothing stands between members.",
        D,
        "no container",
        lambda: sound() + b"junk" + sound(),
    )


def listed() -> dict[str, list[str]]:
    """The manifest: file name -> its fields."""
    return rows_of(MANIFEST)


def main() -> None:
    known = listed()
    with MANIFEST.open("a", encoding="utf-8", newline="\n") as manifest:
        if not known:
            manifest.write("file\tsha256\terror\twords\tthe rule it breaks\n")
        for bad in bad_files():
            file = f"{bad.name}.spk"
            if file in known:
                continue
            data = bad.make()
            (HERE / file).write_bytes(data)
            digest = hashlib.sha256(data).hexdigest()
            manifest.write(f"{file}\t{digest}\t{bad.error}\t{bad.words}\t{bad.sentence}\n")
            print(file)


if __name__ == "__main__":
    main()
