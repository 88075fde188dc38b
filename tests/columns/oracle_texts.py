"""All of a text's bytes, by the words of man/spk-columns.5: its columns, its structure."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from math import isfinite
from typing import NamedTuple

from tests.columns.oracle import (
    CODERS,
    KINDS,
    LAYOUTS,
    PCODEC,
    SHARED,
    STORE,
    WIDTHS,
    Cursor,
    Damaged,
    Description,
    Note,
    Stream,
    elements,
    raw_bytes,
    unzstd,
)


def _lines(c: Cursor, what: str, count: int) -> list[tuple[int, int, int, int]]:
    """Coder, kind, raw size and stored size of streams or groups."""
    forms = []
    for _ in range(count):
        coder, kind = divmod(c.take(1)[0], 16)
        if coder >= len(CODERS) or kind >= len(KINDS):
            raise Damaged("an unknown coder or kind")
        c.renote(f"{what}: {CODERS[coder]}, {KINDS[kind]}", 1)
        forms.append((coder, kind))
    raws = [0 if coder == PCODEC else c.v(f"{what}: raw size") for coder, _ in forms]
    return [
        (coder, kind, raw, raw if coder in (STORE, SHARED) else c.v(f"{what}: stored size"))
        for (coder, kind), raw in zip(forms, raws, strict=True)
    ]


class Columns(NamedTuple):
    """All columns, and notes of all bytes."""

    values: list[list[bytes]]
    notes: list[Note]


def read_columns(data: bytes) -> Columns:
    """What ``encode_all`` wrote."""
    c = Cursor(data)
    if c.v("version") != 1:
        raise Damaged("another version")
    size = c.v("header, raw size")
    stored = c.v("header, stored size")
    body = c.take(stored, "header")
    if stored == size:
        c.notes.pop()
    h = Cursor(body if stored == size else unzstd(body, size))
    count = h.v("columns")
    bundles = h.v("of these, bundles", most=count)
    numbers, sizes, many, lengths = (
        [h.v(f"column {at}: {what}") for at in range(count)]
        for what in ("values", "bytes", "streams", "size of description")
    )
    descriptions = []
    slots = []
    for at, length in enumerate(lengths):
        slots.append(len(h.notes))
        descriptions.append(h.take(length, f"column {at}: description"))
    order = list(range(count))
    if h.v("order", ("that of the columns", "told")):
        order = [h.v("column") for _ in range(count)]
    groups = _lines(h, "group", h.v("groups"))
    lines = _lines(h, "stream", sum(many))
    h.end()
    frames = {}
    for coder, kind, raw, length in groups:
        stored_group = Stream(coder, kind, raw, c.take(length, f"group of {KINDS[kind]}"))
        frames[kind] = Cursor(raw_bytes(stored_group))
    own: list[list[Stream]] = []
    taken = iter(lines)
    for at, some in enumerate(many):
        own.append([])
        for coder, kind, raw, length in (next(taken) for _ in range(some)):
            stored_bytes = b"" if coder == SHARED else c.take(length, f"stream of column {at}")
            own[at].append(Stream(coder, kind, raw, stored_bytes))
    c.end()
    for at in order:
        own[at] = [
            each._replace(data=frames[each.kind].take(each.size)) if each.coder == SHARED else each
            for each in own[at]
        ]
    for frame in frames.values():
        frame.end()
    return _decoded(c, h, slots, descriptions, own, numbers, sizes, bundles)


def _decoded(
    c: Cursor,
    h: Cursor,
    slots: list[int],
    descriptions: list[bytes],
    own: list[list[Stream]],
    numbers: list[int],
    sizes: list[int],
    bundles: int,
) -> Columns:
    count = len(numbers)
    found: dict[int, list[bytes]] = {}
    inner: dict[int, list[Note]] = {}
    bundled: dict[int, int] = {}

    def earlier(index: int) -> list[bytes]:
        if index not in found:
            raise Damaged("a column refers to one that is not before it")
        return found[index]

    for at in range(count):
        d = Description(descriptions[at], own[at], earlier)
        if at < count - bundles and descriptions[at][:1] == b"\x12":
            d.v("encoding")
            d.renote("encoding 18: bundled", 1)
            bundled[at] = count - bundles + d.v("bundle", most=bundles - 1)
        else:
            found[at] = d.column(numbers[at])
        d.end()
        inner[slots[at]] = d.notes
    rest = {at: iter(found[at]) for at in range(count - bundles, count)}
    if not all(found[at] for at in rest):
        raise Damaged("a bundle of no values")
    for at, bundle in bundled.items():
        found[at] = [next(rest[bundle]) for _ in range(numbers[at])]
    if any(next(left, None) is not None for left in rest.values()):
        raise Damaged("a bundle is longer than its columns")
    for at, size in enumerate(sizes):
        if len(found[at]) != numbers[at] or sum(map(len, found[at])) != size:
            raise Damaged("a column of another size")
    notes = [each for place, note in enumerate(h.notes) for each in inner.get(place, [note])]
    head = 3
    raw = len(c.notes) <= head or c.notes[head].text != "header"
    shown = [*c.notes[:head], *(notes if raw else []), *c.notes[head:]]
    return Columns([found[at] for at in range(count - bundles)], shown)


TEXTS = ("JSON", "CSV", "TSV", "MessagePack", "CSV with semicolons", "CSV with bars")
VALUES = ("string", "scalar", "null", "true", "false", "[]", "{}", "key", "other")
FIXED = {2: b"null", 3: b"true", 4: b"false", 5: b"[]", 6: b"{}"}
PACKED = {2: b"\xc0", 3: b"\xc3", 4: b"\xc2", 5: b"\x90", 6: b"\x80"}


class Structure(NamedTuple):
    """Nodes (text, kind, column), the walk, and the trailer."""

    nodes: list[tuple[bytes, int, int]]
    walk: list[int]
    trailer: bytes
    notes: list[Note]
    packed: bool

    def text(self, columns: list[list[bytes]]) -> bytes:
        """The text, from its columns' values."""
        values = [iter(column) for column in columns]
        out = []
        for node in self.walk:
            text, kind, column = self.nodes[node]
            value = FIXED[kind] if kind in FIXED else next(values[column])
            if self.packed:
                value = packed(kind, value)
            out += [text, b'"' + value + b'"' if kind in (0, 7) and not self.packed else value]
        if any(next(rest, None) is not None for rest in values):
            raise Damaged("a column of more values than the walk has")
        return b"".join(out) + self.trailer


def packed(kind: int, value: bytes) -> bytes:
    """A value of MessagePack, in its smallest form."""
    if kind == 1:
        if re.fullmatch(rb"0|-?[1-9][0-9]{0,17}", value):
            number = int(value)
            if -32 <= number < 128:
                return struct.pack(">b", number)
            power = next(p for p in range(4) if -(1 << (8 << p)) <= 2 * number < 2 << (8 << p))
            if number < 0:
                return bytes([0xD0 + power]) + struct.pack(">" + "bhiq"[power], number)
            return bytes([0xCC + power]) + struct.pack(">" + "BHIQ"[power], number)
        if not isfinite(float(value)):
            raise Damaged("a number that is none")
        return b"\xcb" + struct.pack(">d", float(value))
    if kind != 0:
        return PACKED.get(kind, value)
    size = len(value)
    if size < 32:
        return bytes([0xA0 + size]) + value
    power = next(p for p in range(3) if size < 1 << (8 << p))
    return bytes([0xD9 + power]) + size.to_bytes(1 << power, "big") + value


def read_structure(data: bytes) -> Structure:
    """What ``structure.write`` wrote."""
    c = Cursor(data)
    if c.v("version") != 1:
        raise Damaged("another version")
    is_packed = c.v("kind of text", TEXTS) == 3
    values, count = c.v("values"), c.v("nodes")
    trailer_size = c.v("size of the trailer")
    size, stored = c.v("table, raw size"), c.v("table, stored size")
    body = c.take(stored, "table")
    t = Cursor(body if stored == size else unzstd(body, size))
    if stored == size:
        c.notes.pop()
    head = len(c.notes)
    nodes = _nodes(t, count, is_packed)
    marked = 0
    for _ in range(t.v("marks", most=len(t.data) if is_packed else count)):
        marked += t.v("nodes on", most=max(count - 1 - marked, 0))
        t.v("mark")
    follows = []
    for node in range(count):
        many = t.v(f"node {node} is followed by nodes", most=count + 1)
        visits, way = divmod(t.v("decisions * 3 + way"), 3) if many != 1 else (0, 0)
        follows.append(([node + 1 + t.z("target - node - 1") for _ in range(many)], visits, way))
    ranks = _ranks(c, follows)
    walk: list[int] = []
    at = 0
    while at != count and len(walk) < values:
        walk.append(at)
        targets = follows[at][0]
        at = targets[next(ranks[at], -1) if len(targets) != 1 else 0]
        if not 0 <= at <= count:
            raise Damaged("a node that is not there")
    trailer = t.take(trailer_size, "trailer")
    t.end()
    c.end()
    if len(walk) != values or at != count or any(next(left, None) is not None for left in ranks):
        raise Damaged("a walk of another length")
    if list(dict.fromkeys(walk)) != list(range(count)):
        raise Damaged("nodes in another order")
    shown = [*c.notes[:head], *(t.notes if stored == size else []), *c.notes[head:]]
    return Structure(nodes, walk, trailer, shown, is_packed)


def _nodes(t: Cursor, count: int, is_packed: bool) -> list[tuple[bytes, int, int]]:
    found = []
    form = t.v("texts", ("a kind behind each", "counted"))
    for _ in range(count):
        if form:
            kind = t.v("kind", VALUES)
            text = t.counted("text")
        else:
            end = next(at for at in range(t.at, len(t.data)) if t.data[at] < 9)
            text = t.take(end - t.at, "text")
            kind = t.v("kind", VALUES)
        found.append((text, kind))
    columns = 0
    nodes = []
    for text, kind in found:
        column = -1
        if kind not in FIXED:
            column = columns - t.v("column, counted back", most=columns)
            columns += column == columns
        nodes.append((text, kind, column))
    kinds = {column: kind for _, kind, column in nodes if column >= 0}
    if is_packed and any(column >= 0 and kinds[column] != kind for _, kind, column in nodes):
        raise Damaged("a column of several kinds")
    if any(kind == (7 if is_packed else 8) for _, kind, _ in nodes):
        raise Damaged("a value of a kind that its text has not")
    return nodes


def _ranks(c: Cursor, follows: list[tuple[list[int], int, int]]) -> list[Iterator[int]]:
    ranks: list[Iterator[int]] = [iter(())] * len(follows)
    for node, (targets, visits, way) in enumerate(follows):
        if way == 1:
            ranks[node] = iter(_walk_array(c, visits))
        elif way == 2:
            runs = _walk_array(c, c.v("runs", most=visits))
            others = [1] * len(runs)
            if len(targets) > 2:
                others = [rank + 1 for rank in _walk_array(c, len(runs))]
            found = []
            for run, other in zip(runs, others, strict=True):
                found += [0] * run + [other]
            if len(found) > visits:
                raise Damaged("runs are longer than the decisions")
            ranks[node] = iter(found + [0] * (visits - len(found)))
    together = [node for node, (targets, _, way) in enumerate(follows) if targets[1:] and not way]
    if total := sum(follows[node][1] for node in together):
        pool = iter(_walk_array(c, total))
        for node in together:
            ranks[node] = iter([next(pool) for _ in range(follows[node][1])])
    return ranks


def _walk_array(c: Cursor, number: int) -> list[int]:
    kind, layout = divmod(c.take(1)[0], 8)
    if kind not in (1, 2, 3) or layout >= len(LAYOUTS):
        raise Damaged("decisions of an unknown kind")
    c.renote(f"decisions: array of {KINDS[kind]}, {LAYOUTS[layout]}", 1)
    coder = c.v("coder", CODERS)
    if coder == SHARED:
        raise Damaged("decisions share no group")
    stored = c.counted("stored")
    bits = 1 << (layout - 2) if layout >= 2 else 8 * WIDTHS[kind]
    return elements(Stream(coder, kind, -(-number * bits // 8), stored), layout, number)
