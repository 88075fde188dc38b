"""What ``inspect`` tells of the datasets and groups of an HDF5 file."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice
from typing import Any

from serialpack.errors import SerialpackError
from serialpack.formats.arrays.extremes import NumberRange, RangeFinder, Unordered
from serialpack.formats.arrays.hdf5.attributes import shown_attributes
from serialpack.formats.arrays.hdf5.names import MARK
from serialpack.formats.arrays.hdf5.streams import arrays, check, filters, no_more_files
from serialpack.formats.arrays.hdf5.tree import FAILURES, TreeNode, damaged, nodes
from serialpack.formats.arrays.hdf5.types import NoArray, held, is_text, unheld, unread
from serialpack.formats.arrays.header import ArrayHeader
from serialpack.formats.arrays.types import spelled
from serialpack.formats.shared.preview import shown_corner
from serialpack.text import number_of

#: Bytes of numbers that are looked at, in all datasets together.
_FAR = 64 << 20

#: The most rows, and the most characters, that are shown of the value of an attribute.
_ROWS, _MOST_SHOWN = 10, 200


def entries(file: Any, most: int) -> Iterator[dict[str, Any]]:
    """The first ``most`` groups, datasets, attributes and links in ``file``; then, where there are
    more, an entry that says so.

    An entry has the fields of ``ListedEntry`` and ``ListedDataset`` of ``inspection.listed``.
    """
    import h5py
    import numpy as np

    found: list[TreeNode] = []
    for node in nodes(file):
        if len(found) == most:
            yield {"more": True}
            break
        found.append(node)
    told = [_entry(node) for node in found]
    checked = [_checked(file, node) for node in found]
    no_more_files()
    left, room = _FAR, most - len(found)
    yield from (attributes := _attributes(file, "", room))
    room -= len(attributes)
    for node, entry, sound in zip(found, told, checked, strict=True):
        if isinstance(node.what, h5py.Dataset) and "dataset" in entry:
            size = entry["size"]
            number = NumberRange()
            if not sound:
                why = "it cannot be read here"
            elif size > left:
                why = f"only {_FAR >> 20} MiB of all numbers are looked at"
            else:
                left -= size
                with np.errstate(all="ignore"):
                    number, why = _range(node.what)
            least, greatest, nan = number
            entry["dataset"] |= {"minimum": least, "maximum": greatest, "nan": nan, "why": why}
        yield entry
        if node.what is not None:
            yield from (attributes := _attributes(node.what, node.name, room))
            room -= len(attributes)


def _entry(node: TreeNode) -> dict[str, Any]:
    import h5py

    entry: dict[str, Any] = {"name": node.name, "size": 0, "packed": 0, "about": node.why}
    if node.what is None:
        return {**entry, "type": "link" if node.is_link else "other"}
    try:
        attributes = len(node.what.attrs)
        if not isinstance(node.what, h5py.Dataset):
            group = isinstance(node.what, h5py.Group)
            about = number_of(attributes, "attribute") if attributes else ""
            return {**entry, "type": "group" if group else "other", "about": about}
        return {**entry, "type": "dataset", **_facts(node.what, attributes)}
    except (TypeError, ValueError) as error:
        return {**entry, "type": "dataset", "about": unread(error)}
    except (MemoryError, *FAILURES) as error:
        return {**entry, "type": "other", "about": damaged(error)}


def _attributes(owner: Any, of: str, most: int) -> list[dict[str, Any]]:
    """The first ``most`` attributes of ``owner``, which is called ``of``, with their values."""
    entry = {"size": 0, "packed": 0, "type": "attribute"}
    try:
        return [
            {**entry, "name": name, "about": shown_corner(value).decode().rstrip()[:_MOST_SHOWN]}
            for name, value in islice(shown_attributes(owner, of, _ROWS), most)
        ]
    except (SerialpackError, MemoryError, *FAILURES) as error:
        return [{**entry, "name": of + MARK, "about": damaged(error)}]


def _facts(dataset: Any, attributes: int) -> dict[str, Any]:
    shape = dataset.shape or ()
    return {
        "size": math.prod(shape) * dataset.dtype.itemsize if dataset.shape is not None else 0,
        "packed": dataset.id.get_storage_size(),
        "array": {"dtype": _spelled(dataset), "shape": shape, "order": "C"},
        "dataset": {
            "chunks": dataset.chunks,
            "filters": [_words(each) for each in filters(dataset)],
            "attributes": attributes,
        },
    }


def _spelled(dataset: Any) -> Any:
    """The type of the items as NumPy spells it, or in words where NumPy has none."""
    import numpy as np

    if dataset.shape is None:
        return "nothing"
    if why := unheld(dataset.dtype):
        return why
    if is_text(dataset.dtype):
        return "text"
    descr: Any = np.lib.format.dtype_to_descr(held(dataset.dtype, {}))
    return _with_text(descr) if isinstance(descr, list) else spelled(descr)


def _with_text(descr: Any) -> Any:
    """``descr``, the type of a record, with fields of text called text: to NumPy they are
    objects."""
    if isinstance(descr, list | tuple):
        return type(descr)(map(_with_text, descr))
    return "text" if descr == "|O" else descr


def _words(each: Any) -> str:
    level = f":{each.values[0]}" if each.name == "gzip" and each.values else ""
    return f"{each.name}{level}" + ("" if each.here else " (not here)")


def _checked(file: Any, node: TreeNode) -> bool:
    import h5py

    try:
        if isinstance(node.what, h5py.Dataset):
            check(file, node.what)
    except (NoArray, SerialpackError, *FAILURES):  # whoever reads it is told
        return False
    return True


def _range(dataset: Any) -> tuple[NumberRange, str]:
    """The least and the greatest number; and why they are not known, or ""."""
    try:
        if dataset.shape is None or dataset.dtype.kind == "O":
            raise Unordered("its items are no numbers")
        descr = dataset.dtype.base.str if dataset.dtype.names is None else []
        shape = dataset.shape + (dataset.dtype.shape if dataset.dtype.subdtype else ())
        finder = RangeFinder(ArrayHeader(descr, False, shape, 0))
        for array in arrays(dataset):
            finder.add(array.tobytes())
        return finder.range(), ""
    except Unordered as error:
        return NumberRange(), str(error)
    except (SerialpackError, MemoryError, *FAILURES) as error:
        return NumberRange(), damaged(error)
