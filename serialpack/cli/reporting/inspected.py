"""What ``inspect`` found in a file: shown to people, or as the line of ``--json``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from serialpack.cli.lines import Later
from serialpack.cli.reporting.listings import (
    listing_line,
    listing_rows,
    show_entries,
    show_listing,
)
from serialpack.cli.reporting.shapes import (
    array_line,
    array_rows,
    holds_rows,
    shape_line,
    shape_rows,
)
from serialpack.cli.words import counted, percent, print_table, ratio
from serialpack.formats import FORMATS
from serialpack.reports import kept
from serialpack.text import number_of, printable
from serialpack.units import format_size

if TYPE_CHECKING:
    from serialpack.inspection.info import ColumnsInfo, Inspection, MemberInfo

#: What a block of columns is kept as, and why.
_FORMS = {
    "columns": "as columns",
    "larger": "as text: columns would hardly be smaller",
    "shapeless": "as text: there are no records alike in it",
    "unknown": "as text: columns do not take this format apart",
    "unproved": "as text: columns did not give back its bytes",
}


def show_found(
    path: str, found: Inspection, blocks: bool, *, several: bool, detailed: bool, whole: bool = True
) -> None:
    """Print what was found in the file ``path``, for people.

    ``blocks``: a line for each block, too. ``several``: other files are shown before or behind it,
    so it is named. ``detailed``: of an archive its members and not its entries; ``whole``: no
    entries were chosen.
    """
    rows: list[tuple[str, str]] = [("file", path)] if several else []
    if found.shape is not None:
        print_table(rows + shape_rows(found))
        if found.shape.listing is not None:
            show_listing(found.shape.listing)
    elif found.members and found.members[0].entries is not None and not detailed:
        if rows:
            print_table(rows)
        show_entries(found.members, whole=whole)
        if several:
            print()
        return
    for number, member in enumerate(found.members):
        if len(found.members) > 1:
            rows.append(("member", f"{number + 1} of {len(found.members)}"))
        print_table(rows + _member_rows(member))
        rows = []
        if member.listing is not None:
            show_listing(member.listing)
        if member.columns is not None:
            _show_columns(member, member.columns)
        if blocks:
            _show_blocks(member)
    if several:
        print()


def _member_rows(member: MemberInfo) -> list[tuple[str, str]]:
    """The rows, each a name and words, that tell of a member of a container."""
    array, digest = member.array, member.digest
    envelope = "zstd (any zstd tool reads it)" if member.zstd_envelope else "own"
    rows = [
        ("stages", str(member.chain)),
        ("format", member.format + (f": {array.words}" if array else "")),
        *(array_rows(array) if array else []),
        ("size", counted(member.size)),
        ("packed", f"{counted(member.packed)}, {ratio(member.packed, member.size)}"),
        ("container", f"{number_of(member.container, 'byte')} around the data"),
        ("records", "not known" if member.records is None else f"{member.records:,}"),
        ("blocks", _blocks_words(member)),
        ("restores", kept(exact=member.exact, proved=member.proved)),
        ("envelope", envelope),
        ("checksum", f"XXH3-{4 * len(digest)} {digest}" if digest else "not known"),
        ("written by", f"serialpack {member.writer}"),
    ]
    if member.why:
        rows.insert(1, ("because", member.why))
    if member.entry is not None:
        rows.insert(0, ("entry", member.entry))
    elif member.entries is not None:
        rows.insert(0, ("entries", f"{len(member.entries):,}"))
    return rows + _optional_rows(member)


def _optional_rows(member: MemberInfo) -> list[tuple[str, str]]:
    """The rows of what not every member has: objects, a listing, a dictionary, a name, ..."""
    rows: list[tuple[str, str]] = []
    if member.holds is not None:
        rows += holds_rows(member.holds)
    if member.listing is not None:
        rows += listing_rows(member.listing)
    if (needed := member.dictionary) is not None:
        here = ""
        if not needed.found:
            from serialpack.dictionaries import not_found

            here = f", not found here; {not_found()}"
        rows.append(("dictionary", f"{needed.name} ({needed.hash}){here}"))
    if member.name is not None:
        rows.append(("name", member.name))
    if member.mtime is not None:
        rows.append(("modified", member.modified or ""))
    return rows + [(f"meta {key}", value) for key, value in member.meta.items()]


def _blocks_words(member: MemberInfo) -> str:
    """How many blocks a member has, how large they are, and how many of each kind."""
    blocks = str(len(member.blocks))
    if len(member.blocks) != 1:
        blocks += f" of up to {format_size(member.block_size)}"
    if damaged := sum(block.damaged for block in member.blocks):
        blocks += f", {damaged} damaged"
    if member.stored_blocks:
        blocks += f", {member.stored_blocks} stored"
    for form, count in (member.forms or {}).items():
        if form == "shapeless" and not FORMATS.declaration(member.format).columns:
            form = "unknown"
        blocks += f", {count} {_FORMS[form]}"
    return blocks


def _show_columns(member: MemberInfo, found: ColumnsInfo) -> None:
    """A table with a line for each column of a member: its encodings, and the bytes that it
    takes."""
    rows = [
        (
            printable(info.path) or "(record)",
            info.type,
            ", ".join(info.encodings) or "in the structure",
            f"{info.values:,}",
            f"{info.size:,}",
            f"{info.packed:,}",
            percent(info.packed, member.packed),
            ratio(info.packed, info.size, " more"),
        )
        for info in found.columns
    ]
    others = (("(structure)", found.structure), ("(blocks of text)", found.text))
    rows += [
        (name, "", "", "", "", f"{size:,}", percent(size, member.packed), "")
        for name, size in others
        if size
    ]
    heads = ("column", "type", "encoding", "values", "size", "packed", "share", "ratio")
    print_table(rows, headers=heads, right=(3, 4, 5, 6, 7))


def _show_blocks(member: MemberInfo) -> None:
    """A table with a line for each block of a member."""
    print_table(
        [
            (
                str(b.number),
                f"{b.start:,}-{b.end:,}",
                f"{b.size:,}",
                f"{b.end - b.start:,}",
                ratio(b.end - b.start, b.size, " more"),
                "?" if b.records is None else f"{b.records:,}",
                ", ".join(n for n in ("stored", "exact", "continued", "damaged") if getattr(b, n)),
            )
            for b in member.blocks
        ],
        headers=("block", "bytes", "size", "packed", "ratio", "records", "flags"),
        right=(0, 1, 2, 3, 4, 5),
    )


def line_of(path: str, found: Inspection, blocks: bool) -> dict[str, Any]:
    """The line of ``--json`` for what was found in the file ``path``.

    ``blocks``: with a list of the blocks. Its schema is docs/schemas/inspect.json.
    """
    if found.shape is not None:
        line = {"source": path, "container": False, "size": found.size}
        return {**line, **shape_line(found.shape)}
    members = [_member_line(member, blocks) for member in found.members]
    line = {"source": path, "container": True, "size": found.size, "members": members}
    if found.damage:
        line |= {"damage": [each._asdict() for each in found.damage], "exit": 3}
    return line


def _member_line(member: MemberInfo, blocks: bool) -> dict[str, Any]:
    """What the line of ``--json`` says of one member; what it has not is left out."""
    values = member._asdict()
    values["chain"] = str(member.chain)
    # Nanoseconds are beyond what readers of JSON hold as a number.
    del values["mtime"], values["damage"]
    values["modified"] = member.modified
    values["array"] = array_line(member.array)
    values["dictionary"] = member.dictionary and member.dictionary._asdict()
    values["stored_blocks"] = member.stored_blocks
    values["blocks"] = len(member.blocks)
    if member.holds is None:
        del values["holds"]
    if member.listing is None:
        del values["listing"]
    else:
        values["listing"] = listing_line(member.listing)
    if member.entries is None:
        del values["entries"]
    else:
        entries = member.entries
        values["entries"] = Later(lambda: (entry._asdict() for entry in entries))
    if blocks:
        values["block_list"] = [b._asdict() for b in member.blocks]
    if member.columns is None:
        del values["columns"]
    else:
        values["columns"] = {
            **member.columns._asdict(),
            "columns": [info._asdict() for info in member.columns.columns],
        }
    return values
