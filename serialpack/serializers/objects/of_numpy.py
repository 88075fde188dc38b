"""What NumPy has beside arrays of numbers, as extensions of MessagePack, and back.

``man/spk.5``, Objects of Python: types and their limits, classes of scalars, arrays of strings
(``StringDType``) and of records with objects in them, records, arrays of those, generators of
random numbers, polynomials, and the one item that is masked.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from serialpack.imported import imported
from serialpack.serializers.objects._numpy_random import parts_of_random, random_of
from serialpack.serializers.objects._numpy_types import spelled_type, type_spelled
from serialpack.serializers.objects.arrays import descr_of, is_array

OF_NUMPY = 42

#: The classes that hold the limits of a type of numbers.
_LIMITS = "finfo", "iinfo"

#: The spelling of the type of Python objects, which no array of numbers has.
_OBJECT = "'|O'"


def parts_of_numpy(value: Any) -> tuple[int, list[Any]] | None:
    """The extension of ``value``; None for other values, TypeError where it is not held."""
    numpy = imported("numpy")
    if numpy is None:
        return None
    if isinstance(value, numpy.ndarray):
        return (OF_NUMPY, ["masked"]) if value is numpy.ma.masked else None
    if isinstance(value, numpy.dtype):
        return OF_NUMPY, _parts_of_type(value)
    if isinstance(value, type) and issubclass(value, numpy.generic):
        if _class(value.__name__) is not value:
            raise TypeError(f"the class {value.__name__}")
        return OF_NUMPY, ["class", value.__name__]
    if (name := type(value).__name__) in _LIMITS and type(value) is getattr(numpy, name):
        return OF_NUMPY, [name, value.dtype]
    if type(value).__module__.startswith("numpy.polynomial") or type(value) is numpy.poly1d:
        return _parts_of_polynomial(value)
    if type(value).__module__.startswith("numpy.random") and (parts := parts_of_random(value)):
        return OF_NUMPY, ["random", *parts]
    return None


def parts_of_odd(value: Any) -> tuple[int, list[Any]] | None:
    """The extension of an array of strings, of an array of records with objects, or of a record;
    None for other arrays and scalars."""
    kind = value.dtype
    if kind.hasobject and kind.names is not None and not issubclass(kind.type, type(value)):
        return OF_NUMPY, _parts_of_fields(value)
    if kind.char == "T":
        return OF_NUMPY, _parts_of_strings(value)
    if kind.char == "V" and kind.type.__name__ == "record":
        import numpy as np

        word = "record" if isinstance(value, np.generic) else "records"
        return OF_NUMPY, [word, np.asarray(value).view(np.dtype((np.void, kind)))]
    return None


def _parts_of_strings(array: Any) -> list[Any]:
    kind = array.dtype
    fortran = array.flags.f_contiguous and not array.flags.c_contiguous
    items = array.reshape(-1, order="F" if fortran else "C").tolist()
    missing = []
    if hasattr(kind, "na_object"):
        missing = [kind.na_object]
        if type(missing[0]) not in (type(None), float, str):
            raise TypeError(f"an array of strings, of which {missing[0]!r} is missing")
        items = [item if type(item) is str else None for item in items]
    writeable = array.flags.writeable
    return ["strings", items, list(array.shape), fortran, writeable, kind.coerce, *missing]


def _strings_back(
    items: list[Any],
    shape: list[int],
    fortran: bool,
    writeable: bool,
    coerce: bool,
    *missing: Any,
) -> Any:
    import numpy as np

    taken = {str} if not missing else {str, type(None)}
    if type(items) is not list or not taken.issuperset(map(type, items)):
        raise ValueError("an array of strings without its items")
    if any(type(n) is not int or n < 0 for n in shape) or math.prod(shape) != len(items):
        raise ValueError(f"an array of {len(items)} strings with another shape")
    if missing and type(missing[0]) not in (type(None), float, str):
        raise ValueError("nothing that stands for a missing string")
    kind: Any = np.dtypes.StringDType(**_of_strings(bool(coerce), *missing))
    if missing:
        items = [missing[0] if item is None else item for item in items]
    found = np.array(items, kind).reshape(tuple(shape), order="F" if fortran else "C")
    found.flags.writeable = bool(writeable)
    return found


def _parts_of_fields(array: Any) -> list[Any]:
    """The fields of an array of records, one by one; TypeError where they do not lie one after
    another, or their type has more than names."""
    import numpy as np

    kind, names = array.dtype, list(array.dtype.names)
    told = kind.type is not np.void or kind.isalignedstruct or kind.metadata is not None
    if told or kind != _records_of(names, [kind[name] for name in names]):
        raise TypeError("an array of objects in fields of their own places")
    fortran = array.flags.f_contiguous and not array.flags.c_contiguous
    fields = [array[name] for name in names]
    return ["fields", names, fields, list(array.shape), fortran, array.flags.writeable]


def _records_of(names: list[str], kinds: list[Any]) -> Any:
    import numpy as np

    return np.dtype(list(zip(names, kinds, strict=True)))


def _fields_back(
    names: list[str], fields: list[Any], shape: list[int], fortran: bool, writeable: bool
) -> Any:
    import numpy as np

    if any(type(n) is not int or n < 0 for n in shape) or not all(map(is_array, fields)):
        raise ValueError("an array of records without its fields")
    if any(type(name) is not str for name in names) or any(
        list(each.shape[: len(shape)]) != shape for each in fields
    ):
        raise ValueError("fields of other names or shapes")
    kinds = [np.dtype((each.dtype, each.shape[len(shape) :])) for each in fields]
    kind = _records_of(names, kinds)
    if not kind.hasobject:
        raise ValueError("an array of numbers, as one of objects")
    found: Any = np.zeros(tuple(shape), kind, order="F" if fortran else "C")
    for name, each in zip(names, fields, strict=True):
        found[name] = each
    found.flags.writeable = bool(writeable)
    return found


def _parts_of_polynomial(value: Any) -> tuple[int, list[Any]] | None:
    import numpy as np

    name, held = type(value).__name__, dict(vars(value))
    home = np if name == "poly1d" else np.polynomial
    if getattr(home, name, None) is not type(value):
        return None
    words = ("coeffs", "_variable") if home is np else ("coef", "_symbol", "domain", "window")
    parts = [held.pop(word, None) for word in words]
    if held or parts[0].dtype.kind not in "biufc":
        raise TypeError(f"a {name} with attributes, or of no numbers")
    return OF_NUMPY, ["polynomial", name, *parts]


def _polynomial_back(name: str, factors: Any, symbol: str, *ends: Any) -> Any:
    import numpy as np

    for each in (factors, *(each for each in ends if each is not None)):
        if not is_array(each) or each.ndim != 1 or each.dtype.kind not in "biufc":
            raise ValueError("a polynomial without its factors")
    if type(symbol) is not str:
        raise ValueError("a polynomial of no variable")
    if name == "poly1d":
        () = ends
        made: Any = np.poly1d(factors, variable=symbol)
        vars(made)["coeffs"] = factors  # the very ones, as below
        return made
    cls = getattr(np.polynomial, name) if name in np.polynomial.__all__ else None
    if not isinstance(cls, type):
        raise ValueError(f"NumPy has no polynomial {name}")
    made = cls(factors, *ends, symbol)
    vars(made).update(
        (word, each)
        for word, each in zip(("coef", "domain", "window"), (factors, *ends), strict=True)
        if each is not None
    )
    return made


def _of_strings(coerce: bool, *missing: Any) -> dict[str, Any]:
    return {"coerce": coerce, **({"na_object": missing[0]} if missing else {})}


def _parts_of_type(kind: Any) -> list[Any]:
    """The parts of a type; TypeError for one that would come back as another."""
    import numpy as np

    if kind.char == "T" or (kind == np.dtype(object) and kind.metadata is not None):
        return ["dtype", np.empty(0, kind)]
    if kind == np.dtype(object):
        return ["dtype", _OBJECT]
    if kind.type is np.record:
        return ["record type", np.dtype((np.void, kind))]
    base, shape = kind.subdtype or (kind, ())
    said = [repr(spelled_type(base)), *([list(shape)] if shape else [])]
    if _type_back(*said) != kind or (shape and kind.metadata is not None):
        raise TypeError(f"the type {kind!r}")
    return ["dtype", *said]


def _type_back(said: Any, shape: Any = None) -> Any:
    import numpy as np

    if isinstance(said, np.ndarray):
        return said.dtype
    if said == _OBJECT and shape is None:
        return np.dtype(object)
    try:
        found = type_spelled(descr_of(said), len(said))
        return found if shape is None else np.dtype((found, tuple(shape)))
    except (SyntaxError, MemoryError, RecursionError) as error:
        raise ValueError(f"no type ({type(error).__name__})") from None


def _class(name: str) -> Any:
    """The class of scalars of that name; None where there is none."""
    import numpy as np

    found = getattr(np, name, None) if name in np.__all__ else None
    return found if isinstance(found, type) and issubclass(found, np.generic) else None


def _class_back(name: str) -> Any:
    found = _class(name)
    if found is None:
        raise ValueError(f"NumPy has no class {name}")
    return found


def _limits_back(name: str, kind: Any) -> Any:
    import numpy as np

    if not isinstance(kind, np.dtype):
        raise ValueError("limits of no type")
    return getattr(np, name)(kind)


def _record_type_back(kind: Any) -> Any:
    import numpy as np

    if not isinstance(kind, np.dtype) or kind.names is None:
        raise ValueError("no type of records")
    return np.dtype((np.record, kind))


def _records_back(items: Any) -> Any:
    import numpy as np

    if not is_array(items) or items.dtype.names is None:
        raise ValueError("no array of records")
    return np.asarray(items).view(_record_type_back(items.dtype))


def _record_back(items: Any) -> Any:
    found = _records_back(items)
    if found.shape:
        raise ValueError("no array of one record")
    return found[()]


def _masked_back() -> Any:
    import numpy as np

    return np.ma.masked


_BACK: dict[str, Callable[..., Any]] = {
    "dtype": _type_back,
    "class": _class_back,
    "strings": _strings_back,
    "fields": _fields_back,
    "polynomial": _polynomial_back,
    "record": _record_back,
    "records": _records_back,
    "record type": _record_type_back,
    **{name: partial(_limits_back, name) for name in _LIMITS},
    "masked": _masked_back,
    "random": random_of,
}


def numpy_of(word: str, *parts: Any) -> Any:
    """The object that ``parts_of_numpy`` took apart; ValueError, or what NumPy raises, where the
    parts are of none."""
    if word not in _BACK:
        raise ValueError(f"nothing of NumPy is a {word}")
    return _BACK[word](*parts)
