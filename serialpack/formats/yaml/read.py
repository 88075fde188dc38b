"""YAML text to values, from the parser's events: in bounded depth and size, nothing dropped.

PyYAML's own constructor takes the last of two equal keys, calls a foreign tag an error of syntax,
and takes as much memory as aliases of aliases ask for. This one reads the same events to the same
values, and says what cannot be held. What aliases refer to is one and the same object.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from serialpack.depth import MAX_DEPTH, TOO_DEEP
from serialpack.errors import RefusedError
from serialpack.formats.base import Difference
from serialpack.formats.losses.exact import Inexact, held, not_read
from serialpack.formats.losses.utf8 import ENCODING_HINT, NO_UTF8
from serialpack.formats.shared.document import Malformed
from serialpack.formats.yaml.misread import Misread, MisreadWatch
from serialpack.formats.yaml.scalars import plain_tag, scalar, spelled_number
from serialpack.literal import Literal
from serialpack.text import error_words, with_article
from serialpack.values.kinds import DUPLICATES, Spelled, shown, value_step
from serialpack.values.yaml_tags import PREFIX, YamlTag

if TYPE_CHECKING:
    from serialpack.formats.losses.marks import Marks

#: The most bytes that aliases may add to a document, or as many as it has itself. Each value counts
#: for the bytes of its text, and some for itself.
ALIASED = 8 << 20
_EACH = 8

#: Plain text of up to so many characters is looked up, and not read anew each time.
_SHORT = 32

#: Stands for the key ``<<``.
_MERGE: Any = object()

_LINE_END = re.compile("\r\n|[\r\n]")
_WIDE = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16", b"\x00\x00\xfe\xff": "UTF-32"}


def read(
    data: bytes,
    marks: Marks | None = None,
    line: int = 0,
    *,
    core: bool = True,
    literals: bool = False,
) -> list[Any]:
    """The documents in ``data``; Malformed, Unheld or RefusedError.

    ``marks``: what may be lost, and is noted there. ``line``: how many stand before ``data``.
    ``core``: plain text is read by the core schema of YAML 1.2, else by YAML 1.1; where a
    document has a directive, that says it. ``literals``: as ``ValueFormat.literals``.
    """
    for mark, name in _WIDE.items():
        if data.startswith(mark):
            raise Malformed(f"it is {name}, and only UTF-8 is read", 0)
    behind = len(BOM_UTF8) if data.startswith(BOM_UTF8) else 0
    try:
        text = data[behind:].decode()
    except UnicodeDecodeError as error:
        raise Malformed(NO_UTF8, behind + error.start, ENCODING_HINT) from None
    try:
        return _YamlReader(text, marks, line, core=core, literals=literals).documents()
    except Malformed as bad:
        at = None if bad.at is None else behind + len(text[: bad.at].encode())
        raise Malformed(bad.message, at) from None


class _Container:
    """A sequence, mapping or set whose end has not been met yet."""

    __slots__ = ("begin", "deepest", "has_key", "key", "merged", "tagged", "value")

    def __init__(self, value: Any, begin: int, depth: int) -> None:
        self.value = value
        #: What was counted of the document before it.
        self.begin = begin
        #: The level of the innermost container in it, counted from the document.
        self.deepest = depth
        #: Of a mapping: the last key, whether its value is still to come, and what to merge.
        self.key: Any = None
        self.has_key = False
        self.merged: list[dict[Any, Any]] | None = None
        #: Whether it is the value of a ``YamlTag``.
        self.tagged = False


class _Anchored:
    """What an alias stands for. ``size`` and ``height`` are 0 while its end has not been met."""

    __slots__ = ("height", "size", "value")

    def __init__(self, value: Any, size: int = 0) -> None:
        self.value = value
        self.size = size
        self.height = 0


class _YamlReader:
    """Reads one source. Places in it are characters of ``text``."""

    def __init__(
        self, text: str, marks: Marks | None, line: int, *, core: bool, literals: bool
    ) -> None:
        self._text = text
        self._by_default = core
        self._scalar_of = spelled_number if literals else scalar
        self._watch = MisreadWatch(text)
        self._marks = marks
        self._line = line
        self._most = max(ALIASED, len(text))
        self._records: list[Any] = []
        self._begin(None)

    def _begin(self, version: tuple[int, int] | None) -> None:
        """Begin a document, of YAML ``version`` if it says so; nothing is shared with others."""
        self._core = self._by_default if version is None else version > (1, 1)
        self._stack: list[_Container] = []
        self._anchors: dict[str, _Anchored] = {}
        self._open: dict[int, _Anchored] = {}
        #: How many of the containers that are open have a tag.
        self._count = self._aliased = self._tags = 0
        self._plain: dict[str, Any] = {}

    def documents(self) -> list[Any]:
        import yaml

        loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        try:
            self._read(loader(self._text).get_event)
        except yaml.YAMLError as error:
            raise self._malformed(error) from None
        except Misread as odd:
            line = self._line + len(_LINE_END.findall(self._text, 0, odd.at)) + 1
            hint = f"{odd.hint}; pack -s raw keeps the bytes"
            raise RefusedError(f"line {line}: {odd.message}", hint=hint) from None
        except Malformed:
            raise
        except (ValueError, OverflowError):  # chr() in PyYAML's own parser
            raise Malformed("an escape of no character") from None
        return self._records

    def _read(self, following: Any) -> None:
        from yaml import events

        handlers: dict[type, Callable[[Any], None]] = {
            events.SequenceStartEvent: self._start_list,
            events.SequenceEndEvent: self._end,
            events.MappingStartEvent: self._start_map,
            events.MappingEndEvent: self._end,
            events.AliasEvent: self._alias,
            events.DocumentStartEvent: self._start_document,
        }
        look = self._watch.look
        scalar_event, read_scalar = events.ScalarEvent, self._scalar
        while (event := following()) is not None:
            look(event)
            if type(event) is scalar_event:  # four of five events
                read_scalar(event)
            elif (handler := handlers.get(type(event))) is not None:
                handler(event)

    def _start_document(self, event: Any) -> None:
        self._begin(event.version)
        if self._core:
            self._watch.check_lines()

    def _malformed(self, error: Any) -> Malformed:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        if mark is not None:
            return Malformed(error.problem or error.context, mark.index)
        if not hasattr(error, "position"):
            return Malformed(error_words(error))
        at = error.position
        if error.encoding == "?":  # libyaml counts bytes
            at = len(self._text.encode()[:at].decode("utf-8", "ignore"))
        return Malformed(f"U+{error.character:04X}: {error.reason}", at)

    def _scalar(self, event: Any) -> None:
        text: str = event.value
        tag: str | None = event.tag
        if tag is not None:
            value = self._tagged(event, text, tag)
        elif not event.implicit[0]:
            value = text
            if event.style == '"' and not text.isascii():
                _check_surrogates(event, text)
        else:
            # Nothing that may be looked up is the merge key, so that stands for "not there".
            value = _MERGE if self._tags else self._plain.get(text, _MERGE)
            if value is _MERGE:
                value = self._read_plain(event, text)
        size = _EACH + len(text)
        self._count += size
        if event.anchor is not None:
            self._anchors[event.anchor] = _Anchored(value, size)
        self._add(value, event)

    def _read_plain(self, event: Any, text: str) -> Any:
        tag = plain_tag(text, core=self._core)
        if tag == "merge":
            above = self._stack[-1] if self._stack else None
            if above is not None and type(above.value) is dict and not above.has_key:
                return _MERGE
        value = text if tag == "str" else self._value(event, text, tag)
        if len(text) <= _SHORT and tag != "merge" and not self._tags:
            self._plain[text] = value
        return value

    def _tagged(self, event: Any, text: str, tag: str) -> Any:
        if tag == "!":
            # That tag says that this is text. PyYAML, whose YAML 1.1 is meant, reads a number.
            if not self._core and plain_tag(text, core=False) != "str":
                raise self._unheld("tag", f"! {shown(text)}")
            return text
        if not tag.startswith(PREFIX):
            return YamlTag(tag, text)
        return self._value(event, text, tag.removeprefix(PREFIX))

    def _value(self, event: Any, text: str, tag: str) -> Any:
        try:
            # Under a tag of somebody's, numbers need not keep their spelling.
            read_so = scalar if self._tags else self._scalar_of
            return read_so(tag, text, core=self._core)
        except KeyError:
            return YamlTag(event.tag, text)
        except Inexact as lost:
            if self._marks is not None and self._marks.allows(lost):
                return self._marks.lost_number(lost)
            raise self._unheld(lost.kind, shown(lost.text)) from None
        except (ValueError, OverflowError) as error:
            raise Malformed(f"{shown(text)}: {error}", event.start_mark.index) from None

    def _start_list(self, event: Any) -> None:
        self._start(event, [], None if event.tag in ("!", PREFIX + "seq") else event.tag)

    def _start_map(self, event: Any) -> None:
        if event.tag == PREFIX + "set":
            self._start(event, set())
            return
        self._start(event, {}, None if event.tag in ("!", PREFIX + "map") else event.tag)

    def _start(self, event: Any, value: Any, tag: str | None = None) -> None:
        if len(self._stack) >= MAX_DEPTH:
            raise self._unheld("depth", TOO_DEEP)
        container = _Container(value, self._count, len(self._stack) + 1)
        self._count += _EACH
        whole = value if tag is None else YamlTag(tag, value)
        container.tagged = tag is not None
        self._tags += container.tagged
        if event.anchor is not None:
            self._anchors[event.anchor] = self._open[id(container)] = _Anchored(whole)
        self._add(whole, event)
        self._stack.append(container)

    def _end(self, event: Any) -> None:
        container = self._stack.pop()
        self._tags -= container.tagged
        if container.merged is not None:
            own = dict(container.value)
            container.value.clear()
            for merged in container.merged:
                container.value.update(merged)
            container.value.update(own)
        anchored = self._open.pop(id(container), None)
        if anchored is not None:
            anchored.size = self._count - container.begin
            anchored.height = container.deepest - len(self._stack)
        if self._stack:
            above = self._stack[-1]
            above.deepest = max(above.deepest, container.deepest)
            if above.has_key and above.key is _MERGE:
                self._merge(above, container.value, event)

    def _alias(self, event: Any) -> None:
        at = event.start_mark.index
        anchored = self._anchors.get(event.anchor)
        if anchored is None:
            raise Malformed(f"*{event.anchor} is an alias of no anchor", at)
        self._count += anchored.size
        self._aliased += anchored.size
        if self._aliased > self._most:
            most = f"{self._most >> 20} MiB"
            raise self._refused(event, f"the aliases stand for more than {most} of values")
        if self._stack:
            above = self._stack[-1]
            above.deepest = max(above.deepest, len(self._stack) + anchored.height)
            if above.deepest > MAX_DEPTH:
                raise self._unheld("depth", TOO_DEEP)
            if above.has_key and above.key is _MERGE:
                if not anchored.size:
                    raise Malformed("a map is merged into itself", at)
                self._merge(above, anchored.value, event)
                return
        self._add(anchored.value, event)

    def _add(self, value: Any, event: Any) -> None:
        """Put ``value`` into the open container; a container too, before it is filled."""
        if not self._stack:
            self._records.append(value)
            return
        above = self._stack[-1]
        place = above.value
        if type(place) is list:
            place.append(value)
        elif not above.has_key:
            if type(value) is str and value not in place:  # nearly always
                above.key = value
                above.has_key = True
            else:
                self._add_key(above, value)
        elif above.key is _MERGE:
            self._check_merged(value)
            if not isinstance(value, list | dict):  # a container is merged at its end
                raise Malformed("expected a map or a list of maps", event.start_mark.index)
        elif type(place) is dict:
            place[above.key] = value
            above.has_key = False
        elif value is None:
            place.add(above.key)
            above.has_key = False
        else:
            raise Malformed("a member of a set has a value", event.start_mark.index)

    def _add_key(self, above: _Container, key: Any) -> None:
        if isinstance(key, list | dict | set):
            raise self._unheld("key", f"a key that is {with_article(type(key).__name__)}")
        if type(key) is YamlTag:
            raise self._unheld("tag", f"the key {shown(key)}")
        if type(key) is Literal:
            key = self._held(key)
        twice = above.merged is not None if key is _MERGE else key in above.value
        if twice and not self._last_wins(above.value, key):
            name = "<<" if key is _MERGE else key
            raise self._unheld("duplicate-keys", f"the key {shown(name)}", value_step(name))
        above.key = key
        above.has_key = True

    def _held(self, key: Literal) -> Any:
        """Python's value of a number that is a key: 1.0 and 1.00 are one key."""
        try:
            return held(key)
        except Inexact as lost:
            raise self._unheld(lost.kind, shown(Spelled(lost.text))) from None

    def _last_wins(self, place: Any, key: Any) -> bool:
        """Whether ``key``, which is in ``place`` already, may come again; that is noted, then."""
        if self._marks is None or DUPLICATES not in self._marks.allowed:
            return False
        return key is not _MERGE and type(place) is dict and self._marks.again(place, key)

    def _merge(self, above: _Container, value: Any, event: Any) -> None:
        """Take over the maps that ``<<`` stands before: of several, the first has the last word."""
        self._check_merged(value)
        above.merged = [value] if isinstance(value, dict) else list(reversed(value))
        if not all(isinstance(part, dict) for part in above.merged):
            raise Malformed("expected a map or a list of maps", event.start_mark.index)
        above.has_key = False

    def _check_merged(self, value: Any) -> None:
        """Unheld for a value with a tag, which only who knows that tag could merge."""
        for part in value if type(value) is list else [value]:
            if type(part) is YamlTag:
                raise self._unheld("tag", f"<<: {shown(part)}")

    def _refused(self, event: Any, message: str) -> RefusedError:
        line = self._line + event.start_mark.line + 1
        return RefusedError(f"line {line}: {message}", hint="pack -s raw keeps the bytes")

    def _unheld(self, kind: str, was: str, step: str = "") -> Exception:
        """The error for the value that comes next."""
        path = "".join(_steps(self._stack)) if kind != "depth" else ""
        record = len(self._records) - bool(self._stack)
        return not_read("YAML", Difference(record, f"${path}{step}", was, "", kind))


def _steps(stack: list[_Container]) -> list[str]:
    steps = []
    for number, container in enumerate(stack, 1):
        innermost = number == len(stack)
        if isinstance(container.value, list):
            steps.append(f"[{len(container.value) - (not innermost)}]")
        elif container.has_key or not innermost:
            steps.append("[<<]" if container.key is _MERGE else value_step(container.key))
    return steps


def _check_surrogates(event: Any, text: str) -> None:
    """Malformed for the lone surrogate that PyYAML's own parser makes of ``"\\ud83d"``."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Malformed("an escape of a surrogate", event.start_mark.index) from None
