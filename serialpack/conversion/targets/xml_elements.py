"""Turns values into those that the elements of an XML document hold: text, null, maps and lists.

``ElementCarrier.carried`` takes records and gives them so. Each change is counted by its rule
(``elements``, ``lists``, ``items``, ``names``), and what no element holds is refused.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from serialpack.conversion.losses.losses import Losses
from serialpack.conversion.plan import ConversionPlan
from serialpack.conversion.tables.carrier import Carrier
from serialpack.conversion.tables.cells import json_texts
from serialpack.conversion.targets.root import ITEM_NAME
from serialpack.depth import TooDeep
from serialpack.depth.values import check_values, holds_itself
from serialpack.errors import ValueRefusedError, Ways
from serialpack.formats.xml.content import CONTENT_KEY, TEXT, as_read, loses_space
from serialpack.formats.xml.write import is_xml_name, is_xml_text, xml_name
from serialpack.literal import Literal
from serialpack.serializers import SERIALIZERS
from serialpack.values.kind_of import kind_of
from serialpack.values.kinds import KINDS, ROOT, UTF8, Loss, Path, key_kind, path_text, shown

#: How an attribute begins that declares a prefix, and those that need no declaration.
_DECLARES = "@xmlns:"
_PREFIXES = frozenset({"xml"})

_NUMBERS: frozenset[type] = frozenset({bool, int, float, Literal})
_TYPED = "--to typed-xml holds it"
_NO_WAY = "no format here can"


class ElementCarrier(Carrier):
    """Turns values into text, null, maps and lists, as elements have them."""

    def __init__(self, plan: ConversionPlan) -> None:
        super().__init__("json", frozenset({"non-finite"}), utf8=UTF8 in plan.lossy)
        self._plan = plan

    def carried(self, records: list[Any], losses: Losses, first_record: int) -> list[Any]:
        """As ``Carrier.carried``; ValueRefusedError for what no element holds."""
        records = super().carried(records, losses, first_record)
        told = Losses(self._plan.lossy, self._plan.asked)
        made = []
        for number, record in enumerate(records, first_record):
            turner = _Turner(number, told.asked)
            made.append(turner.turned(record) if type(record) is dict else record)
            told.merge(turner.told)
        losses.carry(told, self._plan.target)
        return made


class _Turner:
    """Turns one record. ``asked``: the losses that the user named."""

    def __init__(self, record: int, asked: frozenset[str]) -> None:
        self._record = record
        self._asked = asked
        self._told: dict[str, Loss] = {}
        #: How often each of those was.
        self._counts: dict[str, int] = {}
        #: Maps whose parts are still to be turned, what these become, the prefixes of names that
        #: are declared there, and whether white space means something there.
        self._open: list[tuple[dict[Any, Any], dict[str, Any], Path, frozenset[str], bool]] = []
        #: Those that are declared where a part stands, and whether white space means something.
        self._prefixes = _PREFIXES
        self._keeps_space = False
        #: Whether the record has one key: a list there, however long, is for ``in_one_root``.
        self._is_alone = False
        #: Each map made, where it stands, what it is there, and if white space means something.
        self._made: list[tuple[dict[str, Any], Any, Any, Path, bool]] = []

    @property
    def told(self) -> list[Loss]:
        """What was changed, by rule."""
        return [loss._replace(count=self._counts[rule]) for rule, loss in self._told.items()]

    def turned(self, record: dict[Any, Any]) -> dict[str, Any]:
        """The record as elements have it; ValueRefusedError for what none holds."""
        try:
            check_values([record])  # what holds itself has no end
        except TooDeep:
            kind = "cycle" if holds_itself(record) else "depth"
            self._refuse(ROOT, kind, KINDS[kind], _NO_WAY)
        whole: dict[str, Any] = {}
        self._is_alone = len(record) == 1
        self._open.append((record, whole, ROOT, _PREFIXES | _declared(record), False))
        while self._open:
            value, into, path, self._prefixes, self._keeps_space = self._open.pop()
            for key in self._ordered(value, path):
                self._put(into, key, value[key], path)
        for made, into, key, path, keeps in reversed(self._made):  # what is within others first
            self._settle_content(made, path, keeps_space=keeps)
            if not made:
                self._note("elements", path, "a map without keys", "null")
                into[key] = None
            elif list(made) == ["#text"]:
                self._note("elements", path, "a map of text alone", "its text")
                into[key] = made["#text"]
        self._settle_content(whole, ROOT, keeps_space=False)
        return whole

    def _settle_content(self, made: dict[str, Any], path: Path, *, keeps_space: bool) -> None:
        """Make of ``made`` what is read again where ``#content`` need not be a list of its own: no
        text and elements alternate in it, or there is more beside it.

        ValueRefusedError for white space that is not read at all, as beside elements alone.
        """
        key = CONTENT_KEY if CONTENT_KEY in made else TEXT
        again: dict[str, Any] | None = made
        if key == CONTENT_KEY:
            again = as_read(made, keeps_space=keeps_space)
        elif not keeps_space and loses_space(made):
            again = None
        if again is None:
            self._refuse(
                (path, key), "text", "white space beside elements, which is read as none", _TYPED
            )
        elif again != made:
            self._note("elements", (path, CONTENT_KEY), "a list", "what is in the element")
            made.clear()
            made.update(again)

    def _ordered(self, value: dict[Any, Any], path: Path) -> list[Any]:
        """The keys, attributes first."""
        keys = list(value)
        if not any(type(key) is str and key[:1] == "@" for key in keys):
            return keys
        order = sorted(keys, key=lambda key: not self._is_attribute(key, value[key]))
        if order != keys:
            self._note("elements", path, "keys", "attributes before others")
        return order

    @staticmethod
    def _is_attribute(key: Any, part: Any) -> bool:
        """Whether a key is that of an attribute, which is text: of maps and lists, as JSON-LD has
        them, only elements are made."""
        return type(key) is str and key[:1] == "@" and type(part) not in (dict, list)

    def _put(self, into: dict[str, Any], key: Any, part: Any, path: Path) -> None:
        """Put what ``part`` at ``key`` becomes into the map of an element."""
        here = path, key
        key = self._named(key, part, into, path)
        if key == CONTENT_KEY:
            self._put_content(into, part, here)
        elif key[:1] == "@" or key == "#text":
            self._put_text(into, key, part, here)
        elif type(part) is not list:
            self._put_value(into, key, part, here)
        elif not part:
            self._note("lists", here, "an empty list", "an empty element")
            into[key] = None
        elif len(part) == 1 and not (self._is_alone and path is ROOT):
            self._note("lists", here, "a list of one", "its element")
            self._put_value(into, key, part[0], (here, 0))
        else:
            into[key] = items = [None] * len(part)
            for number, item in enumerate(part):
                self._put_value(items, number, item, (here, number))

    def _put_content(self, into: dict[str, Any], part: Any, path: Path) -> None:
        """Texts and elements one after another."""
        if type(part) is not list:
            self._refuse(path, "nested", f"{shown(part)} as {CONTENT_KEY}", "it is a list")
        into[CONTENT_KEY] = items = list[Any]()
        for number, item in enumerate(part):
            here = path, number
            if type(item) is not dict:
                items.append(self._text(item, here))
                continue
            if len(item) != 1 or not is_xml_name(next(iter(item))):
                what = f"{shown(item)} in {CONTENT_KEY}"
                self._refuse(here, "nested", what, "there it is text, or a map of one element")
            ((name, value),) = item.items()
            items.append(one := dict[str, Any]())
            named = self._named(name, value, one, here)
            self._put_value(one, named, value, (here, name))

    def _put_value(self, into: Any, key: Any, value: Any, path: Path) -> None:
        """What an element becomes that is no attribute and no list."""
        if value is None:
            into[key] = None
        elif type(value) is dict:
            into[key] = made = dict[str, Any]()
            keeps = value.get("@xml:space", self._keeps_space and "preserve") == "preserve"
            self._open.append((value, made, path, self._prefixes | _declared(value), keeps))
            self._made.append((made, into, key, path, keeps))
        elif type(value) is list:
            self._note("items", path, "a list within a list", f"<{ITEM_NAME}>")
            within = {ITEM_NAME: value} if value else None
            self._put_value(into, key, within, path)
        elif text := self._text(value, path):
            into[key] = text
        else:
            self._note("elements", path, "empty text", "null")
            into[key] = None

    def _put_text(self, into: dict[str, Any], key: str, value: Any, path: Path) -> None:
        """An attribute, or the text beside elements."""
        text = "" if value is None else self._text(value, path)
        if value is None or (key == "#text" and not text):
            self._note("elements", path, shown(value), "no text")
        if text or key != "#text":
            into[key] = text

    def _text(self, value: Any, path: Path) -> str:
        """The text of a value; ValueRefusedError where XML has none."""
        if type(value) in _NUMBERS:
            was = "" if "elements" in self._told else shown(value)  # only the first is told
            self._note("elements", path, was, "text")
            return self._number(value, path)
        if type(value) is not str:
            typed = SERIALIZERS.cls("xml")
            kind = kind_of(value)
            held = kind not in typed.cannot | typed.partly
            self._refuse(path, kind, shown(value), _TYPED if held else _NO_WAY)
        text = str(value)
        if not is_xml_text(text):
            surrogate = any("\ud800" <= c <= "\udfff" for c in text)
            hint = Ways((UTF8,), "puts U+FFFD there") if surrogate else _TYPED
            kind = "surrogates" if surrogate else "control"
            self._refuse(path, kind, f"text that XML cannot write: {shown(text)}", hint)
        return text

    def _number(self, value: Any, path: Path) -> str:
        """As JSON has it, NaN and infinities as in tables of text."""
        if type(value) is Literal:
            return value.text
        if type(value) is float:
            return json_texts([value])[0] if value - value == 0 else _odd(value)
        try:
            return str(value).lower()
        except ValueError:  # Python's limit
            self._refuse(path, "huge-integer", shown(value), _TYPED)
            raise

    def _named(self, key: Any, part: Any, into: dict[str, Any], path: Path) -> str:
        """The key of the element, or the attribute, that ``key`` of a map with ``part`` becomes."""
        if type(key) is str and key not in into and _is_plain_name(key):
            return key
        name = key[1:] if self._is_attribute(key, part) else key
        if (
            key == CONTENT_KEY
            or (key == "#text" and type(part) not in (dict, list))
            or (is_xml_name(name) and self._is_bound(key, part))
        ):
            named = str(key)
        elif type(name) is str and (name or key == ""):
            named = key[: len(key) - len(name)] + xml_name(name)
            if not self._is_bound(named, part):
                named = named.replace(":", "_x003A_")
            self._note("names", path, shown(key), named)
        else:
            what = f"a key that is no name of an element: {shown(key)}"
            self._refuse(path, key_kind(key) or "key", what, _TYPED)
        if named in into:
            self._refuse(path, "key", f"two keys of one name, {named}", _TYPED)
        return named

    def _is_bound(self, key: str, part: Any) -> bool:
        """Whether a name has no prefix, or one that is declared there: readers that know
        namespaces refuse any other."""
        if ":" not in key:
            return True
        is_attribute = key[0] == "@"
        prefix, _, local = key.removeprefix("@").partition(":")
        if not prefix or not is_xml_name(local) or ":" in local:
            return False
        if prefix == "xmlns":  # which declares one
            return is_attribute and type(part) is str and bool(part)
        parts = part if type(part) is list and part else [part]
        return prefix in self._prefixes or (
            not is_attribute and all(prefix in _declared(each) for each in parts)
        )

    def _note(self, rule: str, path: Path, was: str, became: str) -> None:
        if rule not in self._told:
            self._told[rule] = Loss(rule, 0, self._record, path_text(path), was, became)
        self._counts[rule] = self._counts.get(rule, 0) + 1

    def _refuse(self, path: Path, kind: str, what: str, hint: str | Ways) -> None:
        raise ValueRefusedError(
            f"xml cannot hold {what}",
            record=self._record,
            value_path=path_text(path),
            kind=kind,
            hint=hint,
        )


@lru_cache(maxsize=1 << 10)
def _is_plain_name(key: str) -> bool:
    """Whether a key is the name of an element wherever it stands."""
    return is_xml_name(key) and ":" not in key


def _declared(value: Any) -> frozenset[str]:
    """The prefixes of names that an element declares."""
    if type(value) is not dict:
        return frozenset()
    return frozenset(
        key[len(_DECLARES) :]
        for key, part in value.items()
        if type(key) is str and key.startswith(_DECLARES) and type(part) is str and part
    )


def _odd(value: float) -> str:
    """NaN and infinities."""
    return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
