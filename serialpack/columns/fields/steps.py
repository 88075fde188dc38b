"""The steps along the walk through a JSON text: what is written for each, where fields are wanted.

A step is a gap and the value behind it. What is written for it (brackets and keys of what is
wanted, and maybe the value) depends only on the state before it. ``StepWriter`` makes a step. JSON
is read strictly: what is malformed is a ``BadError``; but scalars are not looked at.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Callable
from typing import NamedTuple

from serialpack.columns.fields.wanted import (
    ALL,
    EVERYTHING,
    MAYBE,
    NotMapsError,
    UntoldError,
    Wanted,
    unescaped,
)
from serialpack.columns.parse.nodes import FIXED, KEY, QUOTED, SCALAR, STRING
from serialpack.values.structure import Structure

#: What is expected next: the first member or element; one behind a comma; a colon; the value of a
#: member; a comma, or the end. ``CLOSE`` is as ``AFTER``, where the end of a record that is a
#: member of a map is still to be written.
FIRST, NEXT, COLON, VALUE, AFTER, CLOSE = range(6)

_CLOSING = {b"{": b"}", b"[": b"]"}

#: Containers that are values of the walk: they have nothing in them.
EMPTY = (b"{}", b"[]")


class Spot:
    """A container that the walk is in. ``up``: the one around it; ``wanted``: what is wanted of it,
    None for nothing.

    ``base``: whether it holds the records. ``bracket``: the one that opens it; empty for a sequence
    of records, and for what is around the document.
    """

    __slots__ = ("_inner", "base", "bracket", "up", "wanted")

    def __init__(
        self, up: Spot | None, bracket: bytes, wanted: Wanted | None, *, base: bool = False
    ) -> None:
        self.up = up
        self.bracket = bracket
        self.wanted = wanted
        self.base = base
        self._inner: dict[tuple[bytes, Wanted | None], Spot] = {}

    def inner(self, bracket: bytes, wanted: Wanted | None) -> Spot:
        """The container within this one that ``bracket`` opens: always the same object."""
        key = bracket, wanted
        found = self._inner.get(key)
        if found is None:
            found = self._inner[key] = Spot(self, bracket, wanted)
        return found


class State(NamedTuple):
    """Where a step leads: in which container (``spot``), and what is expected next.

    Of a member that has begun, ``wanted`` is what is wanted of it, and ``key`` its key as it is
    spelled; None where that was written already.
    """

    spot: Spot
    expects: int
    wanted: Wanted | None = None
    key: bytes | None = None


#: Gives the step from a state to a symbol.
Follow = Callable[["State", int], "Step"]


class Setting:
    """What all steps through a block share. Arguments: see ``ProjectingMachine``.

    ``lines``: whether records are lines; ``found``: the wanted fields that were met; ``base``: what
    holds the records; ``around``: what is around that; ``begins``: the state before the first step.
    """

    def __init__(self, wanted: Wanted, inside: Structure, *, first: bool, foresees: bool) -> None:
        self.lines = inside == Structure.SEQUENCE
        self.foresees = foresees
        self.found: set[tuple[str, ...]] = set()
        self.around = Spot(None, b"", None)
        bracket = {Structure.ARRAY: b"[", Structure.MAP: b"{"}.get(inside, b"")
        self.base = Spot(self.around, bracket, wanted, base=True)
        self.begins = State(self.around if first and bracket else self.base, FIRST)
        self._keys: dict[bytes, str] = {}

    def inside(self, wanted: Wanted | None, key: bytes) -> Wanted | None:
        """What is wanted of the member ``key``, as it is spelled, of a map of which ``wanted`` is
        wanted. A wanted field is noted in ``found``."""
        if wanted is None or wanted in EVERYTHING:
            return wanted
        name = self._keys.get(key)
        if name is None:
            name = self._keys[key] = unescaped(key)
        found = wanted.inner.get(name)
        if found is None or not found.whole:
            return found
        self.found.add(found.field)
        return ALL


class Step(dict[int, "Step"]):
    """One step: what is written for a gap and the value behind it. As a map it gives the next step
    for each symbol, which ``follow`` makes.

    ``state``: where it leads. ``number``: its own among all steps of the machine; ``symbol``,
    ``node``: those of the value. ``text``: what is written before the value; ``value``: whether the
    value is written, ``quote``: with a quote behind it. ``leads``: whether a comma comes before the
    text if anything was written in its container before; ``filled``: whether, behind this step,
    anything was written in the container that it leads to. ``ends``: how many records end in it.
    ``asks``: whether the text of the value must be looked at; ``foreseen``: whether less may be
    wanted then. ``error``: what is raised for a text that takes this step; None: it is right.
    """

    __slots__ = (
        "asks",
        "ends",
        "error",
        "filled",
        "follow",
        "foreseen",
        "leads",
        "node",
        "number",
        "quote",
        "state",
        "symbol",
        "text",
        "value",
    )

    def __init__(self, follow: Follow, state: State) -> None:
        self.follow = follow
        self.state = state
        self.number = self.symbol = self.node = -1
        self.text = b""
        self.leads = self.value = self.quote = self.filled = False
        self.asks = self.foreseen = False
        self.ends = 0
        self.error: type[UntoldError] | None = None

    def __missing__(self, symbol: int) -> Step:
        step = self[symbol] = self.follow(self.state, symbol)
        return step

    @property
    def loud(self) -> bool:
        """Whether anything is written for the step."""
        return bool(self.text or self.leads or self.value)


class BadError(Exception):
    """The text is not JSON, or not what its caller takes it for.
    ``meaning``: what is raised for it."""

    meaning: type[UntoldError] = UntoldError


class _NoMapError(BadError):
    """A record is no map."""

    meaning = NotMapsError


class StepWriter:
    """Makes one step from ``state``: call ``parts`` for the gap,
    and then ``value`` for the value."""

    def __init__(self, setting: Setting, state: State) -> None:
        self.setting = setting
        self.spot, self.expects, self.wanted, self.key = state
        self.out = bytearray()
        self.leads = False
        #: Whether anything was written in the container; None where only the steps before know
        #: that.
        self.filled: bool | None = None
        self.ends = 0
        if self.expects == CLOSE:
            self._end(b"}\n")

    def _end(self, text: bytes) -> None:
        """Write ``text`` as the end of a record."""
        self.out += text
        self.filled = False
        self.ends += 1
        self.expects = AFTER

    def _item(self) -> None:
        """Write what comes before the next element or member of a
        wanted container: comma and key."""
        if self.filled is None:
            self.leads = True
        elif self.filled:
            self.out += b","
        if self.key:
            self.out += self.key + b":"
        self.filled = True

    def parts(self, parts: list[bytes], *, start: bool) -> None:
        """Read a gap, which comes as its parts. ``start``: it begins the document. BadError."""
        if start and parts[:1] == [BOM_UTF8]:
            parts = parts[1:]
        for part in parts:
            if part in (b"{", b"["):
                self._open(part)
            elif part in (b"}", b"]"):
                self._close(part)
            elif part == b",":
                if self.expects != AFTER or not self.spot.bracket:
                    raise BadError
                self.expects = NEXT
            elif part == b":":
                if self.expects != COLON:
                    raise BadError
                self.expects = VALUE
                if self.wanted and self.key is None:
                    self.out += b":"
                    self.filled = False
            elif part[:1] == b'"' and len(part) > 1:
                self._key(part)
            elif not part.strip(b" \t\r\n"):
                if self.setting.lines and b"\n" in part:
                    if not self.spot.base:
                        raise BadError
                    self.expects = FIRST
            else:
                raise BadError

    def _key(self, key: bytes) -> None:
        """Take a key that stands in a gap."""
        if self.spot.bracket != b"{" or self.expects not in (FIRST, NEXT):
            raise BadError
        self.wanted = self.setting.inside(self.spot.wanted, key[1:-1])
        self.key = key
        self.expects = COLON

    def _value(self) -> Wanted | None:
        """Begin a value: the state must allow one. Gives what is wanted of it."""
        if self.spot.bracket == b"{":
            if self.expects != VALUE:
                raise BadError
            return self.wanted
        if self.expects not in (FIRST, NEXT):
            raise BadError
        self.key = b""
        return self.spot.wanted

    def _open(self, bracket: bytes) -> None:
        """Take a bracket that opens a container."""
        inside = self._value()
        if self.spot is self.setting.around:
            if bracket != self.setting.base.bracket:
                raise BadError
            self.spot = self.setting.base
            self.expects = FIRST
            return
        if self.spot.base and self.spot.bracket == b"{":
            if inside:
                self.out += b"{" + (self.key or b"") + b":"
        elif self.spot.base:
            if bracket != b"{":
                raise _NoMapError
        elif inside:
            self._item()
        if inside:
            self.out += bracket
            self.filled = False
        self.spot = self.spot.inner(bracket, inside)
        self.expects = FIRST

    def _close(self, bracket: bytes) -> None:
        """Take a bracket that closes a container."""
        spot = self.spot
        if self.expects not in (FIRST, AFTER) or _CLOSING.get(spot.bracket) != bracket:
            raise BadError
        assert spot.up
        self.spot = spot.up
        self.expects = AFTER
        if spot.base:
            return
        if spot.wanted:
            self.out += bracket
            self.filled = True
        if self.spot.base:
            member = self.spot.bracket == b"{"
            self._end(b"{}\n" if member and not spot.wanted else b"}\n" if member else b"\n")

    def value(self, follow: Follow, kind: int, reading: bytes | None) -> Step:
        """The step, with a value of this ``kind`` behind the gap. ``reading``: that of the symbol,
        or None; ``follow``: makes the steps behind it. BadError."""
        step = Step(follow, State(self.spot, AFTER))
        if self.spot.bracket == b"{" and self.expects in (FIRST, NEXT):
            self._data_key(step, kind, reading)
        elif kind == KEY:
            raise BadError
        else:
            inside = self._value()
            fixed = FIXED.get(kind, b"")
            if kind == SCALAR:
                fixed = reading or b""
                step.asks = reading is None
            self._plain(step, kind, fixed, inside)
        step.text = bytes(self.out)
        step.leads = self.leads
        step.filled = bool(self.filled)
        step.ends = self.ends
        return step

    def _data_key(self, step: Step, kind: int, reading: bytes | None) -> None:
        """Take a data key, which is a value of the walk, into ``step``."""
        if kind not in QUOTED:
            raise BadError
        inside = self.spot.wanted
        key: bytes | None = b""
        if inside in EVERYTHING:
            step.asks = inside is MAYBE
            self.key = b""
            self._item()
            self.out += b'"'
            step.value = step.quote = True
            key = None
        elif inside:
            step.asks = True
            if reading is not None:
                inside = self.setting.inside(inside, reading)
                key = b'"%b"' % reading
            else:
                step.foreseen = self.setting.foresees
                inside = MAYBE if step.foreseen else None
        step.state = State(self.spot, COLON, inside, key if inside else b"")

    def _plain(self, step: Step, kind: int, fixed: bytes, inside: Wanted | None) -> None:
        """Take a value that is no key into ``step``. ``fixed``: its text, where its kind or its
        reading says that, else empty; ``inside``: what is wanted of it."""
        if self.spot is self.setting.around or (self.spot.base and self.spot.bracket != b"{"):
            around = self.spot is self.setting.around
            if fixed in EMPTY and fixed[:1] == (self.setting.base.bracket if around else b"{"):
                if not around:
                    self._end(b"{}\n")
            elif step.asks and self.setting.foresees:
                step.foreseen = True
            else:
                raise BadError if around else _NoMapError
        elif self.spot.base:
            self._member(step, kind, fixed, inside)
        elif inside:
            self._inner(step, kind, fixed, inside)
        else:
            step.asks = False

    def _member(self, step: Step, kind: int, fixed: bytes, inside: Wanted | None) -> None:
        """As ``_plain``, of a value in the map whose members are the records."""
        at = len(self.out)
        self.filled = False
        if inside:
            self._inner(step, kind, fixed, inside)
        else:
            step.asks = False
        if len(self.out) == at:
            self._end(b"{}\n")
        else:
            self.out[at:at] = b"{"
            step.state = State(self.spot, CLOSE)

    def _inner(self, step: Step, kind: int, fixed: bytes, inside: Wanted) -> None:
        """As ``_plain``, of a value of which something is wanted."""
        if inside in EVERYTHING or fixed in EMPTY:
            self._item()
            self.out += fixed
            if not fixed:
                step.value = True
                step.quote = kind == STRING
                self.out += b'"' * step.quote
        elif self.spot.bracket == b"[":
            # An element that can have no fields becomes null, so that those behind it keep their
            # places.
            self._item()
            self.out += b"null"
