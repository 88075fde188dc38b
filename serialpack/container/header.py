"""The header of a member, as a Python value.

Stages, formats and styles are numbers and small values here; only the packages above know what they
mean. Layout and rules: man/spk.5, HEADER.
"""

from typing import Any, NamedTuple

from serialpack.container.entries import (
    ARCHIVE,
    CONTROL,
    ENTRY,
    ROWS,
    access_in,
    before_in,
    entry_in,
    entry_needs,
    fault_of,
)
from serialpack.container.fields import decode_chain, typed_value
from serialpack.container.frames import (
    HEADER,
    MAX_BODY,
    START_OWN,
    START_ZSTD,
    pack_values,
    unpack_body,
)
from serialpack.container.names import (
    DICTIONARY,
    DictionaryName,
    decode_name,
    dictionary_in,
    encode_name,
)
from serialpack.container.versions import version_number, version_text, writer_of
from serialpack.errors import DamagedError, UsageError, newer
from serialpack.stages.stage import MAX_BLOCK, ChainNumbers

#: The version of the container format.
VERSION = 1

#: Bytes of a block before packing, where the header says nothing else.
DEFAULT_BLOCK_SIZE = 4 << 20

#: The features in ``needs`` that this version knows.
KNOWN_NEEDS = frozenset({ENTRY, ARCHIVE, DICTIONARY, ROWS, CONTROL})


class Header(NamedTuple):
    """The header of a member: all that is said of it before its first block.

    - ``chain``, ``format``: numbers of the stages, and of the source's format; ``style``: how the
      source was written in that format, as the format spells it
    - ``block_size``: bytes of a block before packing; ``name``: base name of the source;
      ``mtime``: its modification time in ns since 1970; ``writer``: the version of serialpack
    - ``meta``: the user's own words; ``why``: auto's reason for the chain
    - ``unproved``: the blocks were not proved when they were packed
    - ``dictionary``: the shared dictionary that the codec needs
    - ``entry``: where the member is one entry of an archive, its path; ``access``: the mode of that
      entry and, where they are kept, the numbers of user and group
    - ``archive``: the member is part of an archive that a closing member ends; ``before``: of a
      closing member, how many members are before it; ``rows``: the blocks list their entries in
      rows of the second form
    """

    chain: ChainNumbers
    format: int = 0
    block_size: int = DEFAULT_BLOCK_SIZE
    name: str | None = None
    mtime: int | None = None
    style: dict[str, Any] = {}  # noqa: RUF012 (never written to)
    writer: str = ""
    meta: dict[str, str] = {}  # noqa: RUF012
    unproved: bool = False
    entry: str | None = None
    why: str = ""
    dictionary: DictionaryName | None = None
    zstd_envelope: bool = True
    archive: bool = False
    rows: bool = False
    before: int | None = None
    access: tuple[int, ...] = ()

    @property
    def in_archive(self) -> bool:
        """Whether the member is of an archive: one entry, or a member that holds several."""
        return self.archive or self.entry is not None

    @property
    def shared(self) -> bool:
        """Whether the member holds several entries, which its blocks list."""
        return self.archive and self.entry is None

    @property
    def start(self) -> bytes:
        """The bytes with which the member begins, by its envelope."""
        return START_ZSTD if self.zstd_envelope else START_OWN

    def values(self) -> dict[str, Any]:
        """The map that the header is stored as; what has its default is left out. UsageError for a
        path that no entry can have."""
        values: dict[str, Any] = {"c": [s[0] if len(s) == 1 else list(s) for s in self.chain]}
        if self.format:
            values["f"] = self.format
        if self.block_size != DEFAULT_BLOCK_SIZE:
            values["b"] = self.block_size
        if self.name is not None:
            values["n"] = encode_name(self.name)
        if self.entry is not None:
            if fault := fault_of(self.entry):
                raise UsageError(f"the path of an entry {fault}: {self.entry!r}")
            values["e"] = encode_name(self.entry)
        if self.mtime is not None:
            values["t"] = self.mtime
        if self.style:
            values["s"] = self.style
        if self.writer:
            values["w"] = version_number(self.writer)
        if self.meta:
            values["m"] = self.meta
        if self.unproved:
            values["u"] = True
        if self.why:
            values["y"] = self.why
        if self.access:
            values["p"] = list(self.access)
        if self.before is not None:
            values["a"] = self.before
        if self.dictionary is not None:
            values["d"] = self.dictionary.value()
        needs = entry_needs(self.entry, archive=self.archive, rows=self.rows)
        if self.dictionary is not None:
            needs.append(DICTIONARY)
        if needs:
            values["needs"] = needs
        return values

    def encode(self) -> bytes:
        """The body of the header's frame; UsageError where it is larger than 32 KiB."""
        body = bytes([VERSION]) + pack_values(self.values())
        if len(body) > MAX_BODY[HEADER]:
            raise UsageError(
                f"the header would take {len(body)} bytes, the most is {MAX_BODY[HEADER]}",
                hint="shorten --meta",
            )
        return body

    @classmethod
    def decode(cls, body: bytes, start: int, *, zstd_envelope: bool) -> "Header":
        """The header in the ``body`` of its frame; DamagedError, UnsupportedError.

        ``start``: the place of the frame in the file, for errors.
        """
        version = body[0] if body else VERSION
        try:
            objects = unpack_body(body[1:], start, "header")
        except DamagedError:
            if version == VERSION:
                raise
            objects = []
        values = objects[0] if len(objects) == 1 else None
        if version != VERSION:
            raise newer(f"container version {version}", writer_of(values))
        if not isinstance(values, dict):
            raise DamagedError("the header is malformed (no map)", start=start)
        return cls.of_values(values, start, zstd_envelope=zstd_envelope)

    @classmethod
    def of_values(cls, values: dict[str, Any], start: int, *, zstd_envelope: bool) -> "Header":
        """The header that is stored as the map ``values``; the rest as for ``decode``."""
        writer = writer_of(values)
        needs = tuple(typed_value(values, "needs", list, [], start))
        if not all(isinstance(n, str) for n in needs):
            raise DamagedError("the header's 'needs' is malformed", start=start)
        unknown = [n for n in needs if n not in KNOWN_NEEDS]
        if unknown:
            raise newer(f"the feature {unknown[0]!r}", writer)
        block_size = typed_value(values, "b", int, DEFAULT_BLOCK_SIZE, start)
        if not 1 <= block_size <= MAX_BLOCK:
            raise DamagedError(f"the header gives a block size of {block_size}", start=start)
        return cls(
            chain=decode_chain(values.get("c"), start),
            format=typed_value(values, "f", int, 0, start),
            block_size=block_size,
            name=decode_name(values.get("n"), start),
            mtime=typed_value(values, "t", int, None, start),
            style=typed_value(values, "s", dict, {}, start),
            writer=version_text(typed_value(values, "w", int, 0, start)),
            meta=_meta(values, start),
            unproved=typed_value(values, "u", bool, False, start),
            entry=entry_in(values, needs, start),
            why=typed_value(values, "y", str, "", start),
            dictionary=dictionary_in(values, needs, start),
            zstd_envelope=zstd_envelope,
            archive=ARCHIVE in needs,
            rows=ROWS in needs,
            before=before_in(values, needs, start),
            access=access_in(values, start),
        )


def _meta(values: dict[str, Any], start: int) -> dict[str, str]:
    meta: dict[str, str] = typed_value(values, "m", dict, {}, start)
    if not all(isinstance(text, str) for pair in meta.items() for text in pair):
        raise DamagedError("the header's 'm' is malformed", start=start)
    return meta
