"""Objects of the user's classes as parts of an extension, and back: dataclasses, classes of attrs,
structs of msgspec, models of pydantic, named tuples, enums, ``UserDict`` and its like, classes
derived from Python's types, objects that keep attributes alone, exceptions.

Nothing here imports a module or calls a method of such a class: a class is looked up by its name
among the modules that are imported already, and its object gets the stored fields directly.
``maker_of_...`` give the function that takes an object apart, ``back_to_...`` the one that makes it
again.
"""

from __future__ import annotations

import dataclasses
from collections import Counter, UserDict, UserList, UserString
from collections.abc import Callable
from contextlib import suppress
from enum import Enum, EnumType, Flag
from functools import cached_property, lru_cache
from inspect import getattr_static
from types import MemberDescriptorType
from typing import Any

from serialpack.imported import imported
from serialpack.serializers.objects._class_names import class_named, names_of_class
from serialpack.serializers.objects._generics import GENERICS
from serialpack.values.attributed import (
    exception_state,
    has_attributes_alone,
    maker_of_attributed,
    maker_of_exceptions,
)
from serialpack.values.derived import (
    CONTENTS,
    attributes_of,
    base_of,
    check_derived,
    maker_of_derived,
    setter_of_attributes,
)
from serialpack.values.instance_dict import hides_attributes
from serialpack.values.models import ModelState, check_state, is_model, model_of, model_state
from serialpack.values.parts import ATTRS_HASH

#: What members of a flag are beside its class.
_NO_MIXIN = object, int
#: What a class has for a field in a slot, which has no value where that was never set.
_UNSET = vars(type("_Unset", (), {"__slots__": ("field",)}))["field"]
#: The methods by which a class says itself what is written of it.
_OWN_WORDS = ("__reduce_ex__", "__reduce__")
#: What structs make an empty field of, without running what is the user's.
_OF_NOTHING = list, dict, set, bytearray
#: What has its value in the one attribute ``data``.
_WRAPPERS = UserDict, UserList, UserString


def is_of_own_class(value: Any) -> bool:
    """Whether ``value`` is one of ``OWN_CLASSES``, whose methods are never called."""
    cls: Any = type(value)
    if issubclass(cls, tuple):
        return cls is not tuple
    if issubclass(cls, Enum) or names_of_fields(cls) is not None or is_model(cls):
        return True
    # Who asks one of GENERICS for something, asks a class in it.
    if has_attributes_alone(cls) or isinstance(value, BaseException) or cls in GENERICS:
        return True
    return base_of(cls) is not None and cls is not Counter


def check_none_own(parts: list[Any]) -> None:
    """ValueError where a part is of a class of the user's: a library would call its methods."""
    for part in parts:
        if is_of_own_class(part):
            raise ValueError(f"a {type(part).__name__}, where none is due")


def _check_dropped(cls: type) -> None:
    """TypeError where ``cls`` has a ``__del__``: it would run with whatever was stored."""
    if hasattr(cls, "__del__"):
        raise TypeError(f"{cls.__name__} does something where it is dropped")


@lru_cache(256)
def _check_plain(cls: type) -> None:
    """TypeError where ``cls`` decides itself what is stored, or has a ``__del__``."""
    _check_dropped(cls)
    usual = imported("msgspec").Struct if is_struct(cls) else object
    own = any(getattr(cls, word) is not getattr(usual, word) for word in _OWN_WORDS)
    if own or hides_attributes(cls):
        raise TypeError(f"{cls.__name__} says itself what is written of it")


def is_struct(cls: type) -> bool:
    """Whether ``cls`` is a class of msgspec's structs, whose objects C code makes."""
    msgspec = imported("msgspec")
    return msgspec is not None and type(cls) is type(msgspec.Struct)


@lru_cache(256)
def names_of_fields(cls: Any) -> tuple[str, ...] | None:
    """The names of the fields of a dataclass, a class of attrs, a struct, or one of ``_WRAPPERS``;
    None for another class."""
    if getattr_static(cls, "__dataclass_fields__", None) is not None:  # without its metaclass
        return tuple(field.name for field in dataclasses.fields(cls))
    if is_struct(cls):
        return tuple(cls.__struct_fields__)
    if issubclass(cls, _WRAPPERS):
        return ("data",)
    fields = getattr_static(cls, "__attrs_attrs__", None)
    return tuple(field.name for field in fields) if isinstance(fields, tuple) else None


#: What makes an extension's parts of the values of one class.
Maker = Callable[[Any], list[Any]]


def maker_of_fields(cls: Any) -> Maker:
    """Gives the function that takes an object with fields apart: the names of its class, and a map
    of its fields and cached properties.

    TypeError for a class that ``back_to_fields`` could not restore; the function raises it for an
    object with more than its fields, such as other attributes.
    """
    _check_plain(cls)
    names = names_of_fields(cls) or ()
    if is_struct(cls):
        _check_struct(cls)
    else:
        object.__new__(cls)  # as the reader makes one: none that is a list, a map or a number too
    if settable_fields(cls) != set(names):
        raise TypeError(f"{cls.__name__} holds more than its fields")
    found = names_of_class(cls)

    def parts(value: Any) -> list[Any]:
        held = all_attributes(value)
        if (*held,) == names and ATTRS_HASH not in held:
            return [*found, held]
        return [*found, _fields_of(cls, names, dict(held))]

    return parts


def _fields_of(cls: Any, names: tuple[str, ...], held: dict[str, Any]) -> dict[str, Any]:
    if ATTRS_HASH in held and ATTRS_HASH not in names:
        held[ATTRS_HASH] = None  # another one in another process
    kept = {name: held.pop(name) for name in held.keys() - set(names) if _is_kept(cls, name)}
    if held.keys() - set(names):
        raise TypeError(f"{cls.__name__} holds more than its fields")
    there = ((name, held[name] if name in held else getattr(cls, name, _UNSET)) for name in names)
    fields = {name: field for name, field in there if type(field) is not MemberDescriptorType}
    return {**fields, **kept}


def _is_kept(cls: type, name: str) -> bool:
    """Whether objects store a computed value under ``name``: a cached property, or attrs' hash."""
    there = getattr_static(cls, name, None)
    if name == ATTRS_HASH:
        return hasattr(cls, "__attrs_attrs__")
    return isinstance(there, cached_property)


def _check_struct(cls: Any) -> None:
    """TypeError where ``cls`` has a ``__post_init__``, which would run when an object is made."""
    if hasattr(cls, "__post_init__"):
        raise TypeError(f"{cls.__name__} does something where it is made")


def _made_by_functions(cls: Any) -> frozenset[str]:
    """The fields of a struct that a function of the user's makes where they are not given."""
    kind = "msgspec._core", "Factory"
    given = zip(cls.__struct_fields__[::-1], cls.__struct_defaults__[::-1], strict=False)
    made = [each for each in given if (type(each[1]).__module__, type(each[1]).__name__) == kind]
    return frozenset(name for name, default in made if default.factory not in _OF_NOTHING)


def all_attributes(value: Any) -> dict[str, Any]:
    """All attributes of ``value``, those in slots too. The caller must not change the map."""
    state: Any = object.__getstate__(value)
    if type(state) is dict:
        return state
    inside, slots = state if type(state) is tuple else (state, {})
    return {**(inside or {}), **slots}


@lru_cache(256)
def settable_fields(cls: Any) -> frozenset[str]:
    """The fields that are set without running what the class defines."""

    def plain(name: str) -> bool:
        there = getattr_static(cls, name, None)
        return not hasattr(type(there), "__set__") or isinstance(there, MemberDescriptorType)

    return frozenset(filter(plain, names_of_fields(cls) or ()))


def names_in(cls: type) -> tuple[str, ...]:
    """The names of the items of a named tuple's class; none where it is another class."""
    names = getattr_static(cls, "_fields", ())
    return names if issubclass(cls, tuple) and type(names) is tuple else ()


def maker_of_tuples(cls: type) -> Maker:
    """Gives the function that takes a named tuple apart: the names of its class, and its items."""
    _check_plain(cls)
    found = names_of_class(cls)

    def parts(value: Any) -> list[Any]:
        if getattr(value, "__dict__", None):
            raise TypeError(f"{cls.__name__} with attributes")
        return [*found, *value]

    return parts


def maker_of_members(cls: Any) -> Maker:
    """Gives the function that takes a member apart: the names of its enum, and its own; or, for
    several members of a flag together, their bits."""
    found = names_of_class(cls)

    def parts(value: Any) -> list[Any]:
        combined = isinstance(value, Flag) and value._name_ not in cls._member_map_
        return [*found, value._value_ if combined else value._name_]

    return parts


def maker_of_models(cls: Any) -> Maker:
    """Gives the function that takes a model of pydantic apart: the names of its class, and its
    state."""
    _check_plain(cls)
    found, check = names_of_class(cls), _check_of_model(cls)

    def parts(value: Any) -> list[Any]:
        state = fields, extra, given, private = model_state(value)
        check(state)
        # In the order of what they name: that of a set is another one in each process.
        names = [name for name in (*fields, *(extra or ())) if name in given]
        names += sorted(given.difference(names))
        return [*found, fields, extra, names, private]

    return parts


def maker_of_bases(cls: Any) -> Maker:
    """Gives the function that takes an object of a class derived from a type of Python apart: the
    names of its class and of that type, its contents, and its attributes."""
    base, found = check_derived(cls), names_of_class(cls)
    contents = CONTENTS[base]
    return lambda value: [*found, base.__name__, contents(value), attributes_of(value)]


def maker_of_objects(cls: Any) -> Maker:
    """Gives the function that takes an object that keeps attributes alone apart: the names of its
    class, and its attributes."""
    found = names_of_class(cls)
    return lambda value: [*found, attributes_of(value)]


def maker_of_errors(cls: Any) -> Maker:
    """Gives the function that takes an exception apart: the names of its class, and its state."""
    found = names_of_class(cls)
    return lambda value: [*found, *exception_state(value)]


@lru_cache(256)
def _check_of_model(cls: Any) -> Callable[[ModelState], None]:
    """Gives the function that raises TypeError for a state that no model of ``cls`` has."""

    def held(name: str) -> dict[str, Any]:
        return next((vars(each)[name] for each in cls.__mro__ if name in vars(each)), {})

    own, own_private = held("__pydantic_fields__"), held("__private_attributes__")
    takes_more = held("model_config").get("extra") == "allow"

    def check(state: ModelState) -> None:
        fields, extra, _, private = state
        more = [name for name in fields if name not in own and not _is_kept(cls, name)]
        more += [name for name in private or () if name not in own_private]
        if more or (extra and not takes_more):
            raise TypeError(f"{cls.__name__} holds more than its fields")

    return check


def back_to_tuple(module: str, name: str) -> Callable[..., Any]:
    """Gives the function that makes a named tuple of its items."""
    cls: Any = class_named(module, name)
    if not issubclass(cls, tuple):
        raise ValueError(f"{name} has no names")
    _check_dropped(cls)
    count = len(names_in(cls))

    def back(*items: Any) -> Any:
        if len(items) != count:
            raise ValueError(f"{name} has no {len(items)} names")
        return tuple.__new__(cls, items)

    return back


def back_to_member(module: str, name: str) -> Callable[..., Any]:
    cls: Any = class_named(module, name)

    def back(member: str | int) -> Any:
        if type(member) is int:
            return _flag(cls, member)
        if type(member) is not str or not issubclass(cls, Enum) or member not in cls._member_map_:
            raise ValueError(f"{name} has no member {member}")
        return cls._member_map_[member]

    return back


def _flag(cls: type, bits: int) -> Any:
    """The members of a flag that ``bits`` stand for, together."""
    found: Any = None
    if issubclass(cls, Flag) and type(cls) is EnumType and vars(cls)["_member_type_"] in _NO_MIXIN:
        made: Any = cls._missing_
        if made.__func__ is Flag.__dict__["_missing_"].__func__:
            with suppress(ValueError):  # of several lines
                found = cls(bits)
    if type(found) is not cls:  # of some flags other bits become an int
        raise ValueError(f"{cls.__name__} has no {bits}")
    return found


def back_to_fields(module: str, name: str) -> Callable[..., Any]:
    """Gives the function that makes an object of the map of its fields."""
    cls: Any = class_named(module, name)
    if names_of_fields(cls) is None:
        raise ValueError(f"{name} has no fields")
    _check_dropped(cls)
    settable, struct = settable_fields(cls), is_struct(cls)
    if struct:
        _check_struct(cls)
    due = _made_by_functions(cls) if struct else frozenset()
    new, set_in, in_dict = object.__new__, object.__setattr__, setter_of_attributes(cls)

    def back(fields: dict[str, Any]) -> Any:
        if type(fields) is not dict:
            raise ValueError(f"no fields of {name}")
        if not settable.issuperset(fields):
            more = fields.keys() - settable
            if odd := [field for field in more if struct or not _is_kept(cls, field)]:
                raise ValueError(f"{name} has no field {odd[0]}")
        if ATTRS_HASH in fields and fields[ATTRS_HASH] is not None:
            raise ValueError(f"{name} has no field {ATTRS_HASH}")
        if struct:
            if not due <= fields.keys():
                raise ValueError(f"{name} without {', '.join(due - fields.keys())}")
            return cls(**fields)
        made: Any = new(cls)
        if in_dict is not None:
            in_dict(made, fields)
        for field, value in fields.items() if in_dict is None else ():
            set_in(made, field, value)
        return made

    return back


def back_to_model(module: str, name: str) -> Callable[..., Any]:
    """Gives the function that makes a model of its state."""
    cls: Any = class_named(module, name)
    if not is_model(cls):
        raise ValueError(f"{name} is no class of models")
    _check_dropped(cls)
    check = _check_of_model(cls)

    def back(fields: Any, extra: Any, given: list[str], private: Any) -> Any:
        if type(given) is not list:
            raise ValueError(f"no names of what {name} was given")
        state = fields, extra, set(given), private
        check_state(state)
        check(state)
        return model_of(cls, state)

    return back


def back_to_derived(module: str, name: str) -> Callable[..., Any]:
    """Gives the function that makes an object of a derived class of its contents and attributes."""
    cls: Any = class_named(module, name)
    make, base = maker_of_derived(cls), base_of(cls).__name__

    def back(kind: str, contents: Any, attributes: Any) -> Any:
        if type(kind) is not str or kind != base:
            raise ValueError(f"{name} is derived from {base}")
        return make(contents, attributes)

    return back


def back_to_object(module: str, name: str) -> Callable[[Any], Any]:
    """Gives the function that makes an object of its attributes."""
    return maker_of_attributed(class_named(module, name))


def back_to_error(module: str, name: str) -> Callable[..., Any]:
    """Gives the function that makes an exception of its state."""
    return maker_of_exceptions(class_named(module, name))
