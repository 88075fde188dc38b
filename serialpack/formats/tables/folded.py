"""Folded columns: those whose arrays hold an item once that is meant many times (views of lists,
runs, dictionaries of what is no plain word), or hold such an array.

pyarrow casts some of them to wrong values (26: views of lists with nulls) and others not at all.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from serialpack.errors import RefusedError
from serialpack.formats.tables.library import arrow, is_plain, is_view, view_lengths

#: More than anything may have; so few that sums of it are still counted.
_BEYOND = 2.0**62


def is_folded(kind: Any) -> bool:
    """Whether arrays of type ``kind`` are folded."""
    if is_plain(kind):
        return False
    pa = arrow()
    if isinstance(kind, pa.BaseExtensionType):
        return is_folded(kind.storage_type)
    is_a = pa.types
    if _is_list_view(kind) or is_a.is_run_end_encoded(kind):
        return True
    if is_a.is_dictionary(kind):
        # pyarrow does not cast dictionaries of views either, and writes wrong words of nested ones.
        value = kind.value_type
        return (
            bool(value.num_fields)
            or is_a.is_dictionary(value)
            or is_view(value)
            or is_folded(value)
        )
    return any(is_folded(kind.field(n).type) for n in range(kind.num_fields))


def unfolded_type(kind: Any) -> Any:
    """The type of the arrays that ``unfolded`` gives for type ``kind``: the same where that is not
    folded."""
    return _unfolded_type(kind) if is_folded(kind) else kind


def unfolded(array: Any) -> Any:
    """``array``, a sound one of a folded type, in which each item stands where it is meant."""
    import numpy as np

    return _taken(array, np.arange(len(array)))


class Weights(NamedTuple):
    """For each item of an array how many values are in it, and about how many bytes they take.

    Arrays of NumPy, of floats: what a small file claims can be beyond any integer.
    """

    values: Any
    bytes: Any

    def of(self, start: int, stop: int) -> tuple[int, int]:
        """The sums over the items from ``start`` up to but not including ``stop``, at most
        ``_BEYOND``."""
        values, size = (min(each[start:stop].sum(), _BEYOND) for each in self)
        return int(values), int(size)


def weights(array: Any, most: int) -> Weights:
    """The weights of an array of a folded type, in which no array may have more than ``most``
    items.

    RefusedError where one has, or is a union; any error of pyarrow's or NumPy's where the array
    contradicts itself.
    """
    array.validate(full=True)
    return _weights(array, most)


def too_much() -> RefusedError:
    """The error for few bytes that claim to be many more values."""
    return RefusedError(
        "it holds many times more than its size accounts for", hint="pack -s raw keeps the bytes"
    )


def _is_list_view(kind: Any) -> bool:
    is_a = arrow().types
    return bool(is_a.is_list_view(kind) or is_a.is_large_list_view(kind))


def _is_list(kind: Any) -> bool:
    is_a = arrow().types
    return bool(is_a.is_list(kind) or is_a.is_large_list(kind)) or _is_list_view(kind)


def _unfolded_type(kind: Any) -> Any:
    pa = arrow()
    is_a = pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return _unfolded_type(kind.storage_type) if is_folded(kind) else kind
    if is_a.is_run_end_encoded(kind):
        return _unfolded_type(kind.value_type)
    if is_a.is_dictionary(kind):
        return _unfolded_type(kind.value_type) if is_folded(kind) else kind
    if is_a.is_struct(kind):
        return pa.struct([field.with_type(_unfolded_type(field.type)) for field in kind])
    if is_a.is_map(kind):
        return pa.map_(_unfolded_type(kind.key_type), _unfolded_type(kind.item_type))
    if is_a.is_fixed_size_list(kind):
        return pa.list_(_unfolded_type(kind.value_type), kind.list_size)
    # There may be more items than the offsets of others count.
    return pa.large_list(_unfolded_type(kind.value_type)) if _is_list(kind) else kind


def _taken(array: Any, at: Any) -> Any:
    """The items of ``array`` with the numbers ``at``, null for -1; of its ``_unfolded_type``."""
    import numpy as np

    pa, kind = arrow(), array.type
    is_a = pa.types
    if isinstance(kind, pa.BaseExtensionType) and is_folded(kind):
        return _taken(array.storage, at)
    if is_a.is_run_end_encoded(kind) or (is_a.is_dictionary(kind) and is_folded(kind)):
        items, numbers = _meant(array)
        return _taken(items, _picked(numbers, at))
    if is_view(kind):
        return _taken_views(array, at)
    if not kind.num_fields or isinstance(kind, pa.BaseExtensionType):
        return array.take(pa.array(at, mask=at < 0))
    null = ~_picked(array.is_valid().to_numpy(zero_copy_only=False), at, False)
    made, mask = _unfolded_type(kind), pa.array(null)
    if is_a.is_struct(kind):
        where = np.where(null, -1, at)
        parts = [_taken(array.field(n), where) for n in range(kind.num_fields)]
        return pa.StructArray.from_arrays(parts, fields=[*made], mask=mask)
    if is_a.is_fixed_size_list(kind):
        size = kind.list_size
        inner = (at[:, None] + array.offset) * size + np.arange(size)
        inner[null] = -1
        values = _taken(array.values, inner.ravel())
        # Of lists of no items, from_arrays divides by 0.
        return pa.Array.from_buffers(made, len(at), [_bits(~null)], children=[values])
    starts, sizes = (np.where(null, 0, _picked(each, at)) for each in _spans(array))
    ends = np.cumsum(sizes)
    inner = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - sizes - starts, sizes)
    offsets = np.concatenate([[0], ends])
    if is_a.is_map(kind):
        parts = [_taken(each, inner) for each in (array.keys, array.items)]
        return pa.MapArray.from_arrays(pa.array(offsets, pa.int32()), *parts, type=made, mask=mask)
    values = _taken(array.values, inner)
    return pa.LargeListArray.from_arrays(pa.array(offsets), values, type=made, mask=mask)


def _taken_views(array: Any, at: Any) -> Any:
    """As ``_taken``, of views, which pyarrow's own ``take`` does not take."""
    import numpy as np

    pa = arrow()
    _, heads, *texts = array.buffers()
    valid = _picked(array.is_valid().to_numpy(zero_copy_only=False), at, False)
    if not valid.any():
        return pa.nulls(len(at), array.type)
    found = np.frombuffer(heads, "V16")[np.where(valid, at + array.offset, 0)]
    found[~valid] = b""
    buffers = [_bits(valid), pa.py_buffer(found), *texts]
    return pa.Array.from_buffers(array.type, len(at), buffers)


def _bits(valid: Any) -> Any:
    """The buffer of bits that says which items are not null."""
    import numpy as np

    return arrow().py_buffer(np.packbits(valid, bitorder="little"))


def _weights(array: Any, most: int) -> Weights:
    import numpy as np
    import pyarrow.compute as pc

    pa, kind = arrow(), array.type
    is_a, count = pa.types, len(array)
    if count > most:
        raise too_much()
    if isinstance(kind, pa.BaseExtensionType):
        return _weights(array.storage, most)
    if is_a.is_run_end_encoded(kind) or is_a.is_dictionary(kind):
        items, numbers = _meant(array)
        return Weights(*(_picked(each, numbers) for each in _weights(items, most)))
    ones = np.ones(count)
    if is_view(kind):
        return Weights(ones, 16.0 + view_lengths(array))
    if is_a.is_union(kind):
        raise RefusedError(
            f"columns of the type {kind} are not read here"[:200],
            hint="pack -s raw keeps the bytes",
        )
    if not kind.num_fields:
        if kind in (pa.string(), pa.binary(), pa.large_string(), pa.large_binary()):
            return Weights(ones, pc.binary_length(array).fill_null(0).to_numpy().astype("f8"))
        return Weights(ones, ones * (array.nbytes / max(count, 1)))
    if is_a.is_struct(kind):
        parts = [_weights(array.field(n), most) for n in range(kind.num_fields)]
        return Weights(*(sum(each, start=ones) for each in zip(*parts, strict=True)))
    if is_a.is_fixed_size_list(kind):
        starts = (np.arange(count) + array.offset) * kind.list_size
        sizes = np.full(count, kind.list_size)
    else:
        starts, sizes = _spans(array)
    held = (array.keys, array.items) if is_a.is_map(kind) else (array.values,)
    found = [ones, ones]
    for inner in held:
        for n, each in enumerate(_weights(inner, most)):
            until = np.concatenate([[0.0], np.cumsum(each.clip(max=_BEYOND))])
            found[n] = found[n] + np.where(sizes > 0, until[starts + sizes] - until[starts], 0)
    return Weights(*found)


def _meant(array: Any) -> tuple[Any, Any]:
    """The array that a run-end encoded array or a dictionary holds, and for each item of ``array``
    its number in that; -1 for null."""
    import numpy as np

    if arrow().types.is_dictionary(array.type):
        return array.dictionary, array.indices.cast("int64").fill_null(-1).to_numpy()
    ends, at = array.run_ends.to_numpy(), np.arange(len(array)) + array.offset
    return array.values, np.searchsorted(ends, at, "right")


def _spans(array: Any) -> tuple[Any, Any]:
    """For each list, or map, where it begins in the array that holds its items, and how many it
    has: none where it is null."""
    import numpy as np

    offsets = array.offsets.to_numpy().astype("i8")
    if _is_list_view(array.type):
        sizes = array.sizes.to_numpy()
    else:
        sizes, offsets = np.diff(offsets), offsets[:-1]
    valid = array.is_valid().to_numpy(zero_copy_only=False)
    return offsets, np.where(valid, sizes, 0).astype("i8")


def _picked(values: Any, at: Any, default: Any = None) -> Any:
    """``values[at]``; where ``at`` is -1, ``default`` (by default -1 of integers, 1 of floats)."""
    import numpy as np

    if default is None:
        default = 1.0 if values.dtype.kind == "f" else -1
    if not len(values):
        return np.full(len(at), default, values.dtype)
    return np.where(at < 0, default, values[at])
