"""Values to YAML text, in block style, by the emitter's events: no value is taken for another.

PyYAML's own representer writes tuples as lists, and recurses three calls for each level. Here
only what reads back is written, and the levels are counted. The text is as PyYAML writes it with
``sort_keys=False``, but for long lines, which are not folded, for text that some reader of YAML
1.1 or 1.2 takes for another value, which is quoted, and for dates and times, which have a tag: to
YAML 1.2 they are text.
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable, Iterator
from datetime import date, datetime
from typing import Any

from serialpack.depth import MAX_DEPTH, TooDeep
from serialpack.formats.losses.exact import check_zone
from serialpack.formats.yaml.scalars import needs_quotes
from serialpack.literal import Literal
from serialpack.text import with_article
from serialpack.values.sets import in_order
from serialpack.values.yaml_tags import PREFIX, YamlTag

#: Text of up to so many characters is looked up, and not looked at anew each time.
_SHORT = 32

#: So long a line is never folded: readers disagree about where it may be.
_WIDTH = 1 << 30


#: Line ends of YAML 1.1 that YAML 1.2 takes for text: the emitter writes them so within single
#: quotes.
_OTHER_LINES = re.compile("[\x85\u2028\u2029]")


def write(records: list[Any], *, explicit: bool, first: bool = True, core: bool = True) -> bytes:
    """Each record as a document.

    ``explicit``: each between ``---`` and ``...``; ``first``: no other documents stand before them.
    ``core``: for readers of YAML 1.1 and of YAML 1.2 alike; else for those of YAML 1.1, as it was
    always written: containers count on the very bytes. ValueError or TypeError for a value that
    YAML has no words for.
    """
    import yaml
    from yaml import events

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    file = io.BytesIO()
    emitter = dumper(file, allow_unicode=True, width=_WIDTH)
    document = _Document(events, core=core)
    try:
        emitter.emit(events.StreamStartEvent(encoding="utf-8"))
        for number, record in enumerate(records):
            emitter.emit(events.DocumentStartEvent(explicit=explicit or not first or number > 0))
            for event in document.of(record):
                emitter.emit(event)
            emitter.emit(events.DocumentEndEvent(explicit=explicit))
        emitter.emit(events.StreamEndEvent())
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None
    finally:
        emitter.dispose()
    return file.getvalue()


_NO_KEYS = (list, dict, set, tuple, frozenset, YamlTag)


class _Document:
    """Makes the events of one document after another. Containers met again become aliases."""

    def __init__(self, events: Any, *, core: bool) -> None:
        self._events = events
        self._core = core
        self._met: dict[int, Any] = {}
        self._anchors = 0
        #: The events of short texts, of keys most of all, which come again and again.
        self._known: dict[str, Any] = {}
        true, false, null = map(self._plain, ("true", "false", "null"))
        self._writers: dict[type, Callable[[Any], Any]] = {
            str: self._text,
            int: lambda value: self._plain(str(value)),
            bool: lambda value: true if value else false,
            type(None): lambda _: null,
            float: lambda value: self._plain(_float(value)),
            date: lambda value: self._moment(value.isoformat()),
            datetime: lambda value: self._moment(_datetime(value)),
            bytes: self._binary,
            Literal: lambda value: self._plain(value.text),
        }

    def _plain(self, text: str) -> Any:
        return self._events.ScalarEvent(None, None, (True, False), text)

    def _text(self, text: str) -> Any:
        style = None
        if self._core and not text.isascii() and _OTHER_LINES.search(text):
            style = '"'
        event = self._events.ScalarEvent(
            None, None, (not needs_quotes(text), True), text, style=style
        )
        if len(text) <= _SHORT:
            self._known[text] = event
        return event

    def _moment(self, text: str) -> Any:
        if not self._core:
            return self._plain(text)
        return self._events.ScalarEvent(None, PREFIX + "timestamp", (False, False), text)

    def _binary(self, value: bytes) -> Any:
        text = base64.encodebytes(value).decode()
        return self._events.ScalarEvent(None, PREFIX + "binary", (False, False), text, style="|")

    def of(self, record: Any) -> list[Any]:
        self._met, self._anchors = {}, 0
        found: list[Any] = []
        stack: list[Iterator[Any]] = [iter((record,))]
        ends: list[Any] = []
        writers, known = self._writers, self._known
        while stack:
            for value in stack[-1]:
                kind = type(value)
                if kind is str and value in known:
                    found.append(known[value])
                    continue
                writer = writers.get(kind)
                if writer is not None:
                    found.append(writer(value))
                    continue
                event, inner = self._container(value)
                found.append(event)
                if inner is not None:
                    stack.append(inner)
                    ends.append(self._end(value))
                    if len(ends) > MAX_DEPTH:
                        raise TooDeep
                    break
            else:
                stack.pop()
                if ends:
                    found.append(ends.pop())
        return found

    def _end(self, value: Any) -> Any:
        if type(value.value if type(value) is YamlTag else value) is list:
            return self._events.SequenceEndEvent()
        return self._events.MappingEndEvent()

    def _container(self, value: Any) -> tuple[Any, Iterator[Any] | None]:
        """The event that begins ``value``, and what is in it; for one that was met before an alias,
        and None."""
        events, tag = self._events, None
        first = self._met.get(id(value))
        if first is not None:
            if first.anchor is None:
                self._anchors += 1
                first.anchor = f"id{self._anchors:03}"
            return events.AliasEvent(first.anchor), None
        whole = value
        if type(value) is YamlTag:
            tag, value = value.tag, value.value
        kind, plain, inner = type(value), tag is None, None
        if kind is str and tag is not None:
            event = events.ScalarEvent(None, tag, (False, False), value)
        elif kind is list:
            event = events.SequenceStartEvent(None, tag, plain, flow_style=not value)
            inner = iter(value)
        elif kind is dict:
            event = events.MappingStartEvent(None, tag, plain, flow_style=not value)
            inner = _in_turn(value.items())
        elif kind is set and tag is None:
            event = events.MappingStartEvent(None, PREFIX + "set", False, flow_style=not value)
            inner = _in_turn((member, None) for member in in_order(value))
        else:
            raise TypeError(f"YAML has no words for {with_article(kind.__name__)}")
        self._met[id(whole)] = event
        return event, inner


def _in_turn(items: Any) -> Iterator[Any]:
    for key, value in items:
        if type(key) is not str and isinstance(key, _NO_KEYS):
            raise TypeError(f"a key that is {with_article(type(key).__name__)}")
        yield key
        yield value


def _float(value: float) -> str:
    """``value`` as YAML 1.1 spells it: with a point, and a sign in the exponent."""
    if value - value != 0:
        return ".nan" if value != value else (".inf" if value > 0 else "-.inf")
    text = repr(value)
    return text if "." in text else text.replace("e", ".0e")


def _datetime(value: datetime) -> str:
    check_zone(value)
    return value.isoformat(" ")
