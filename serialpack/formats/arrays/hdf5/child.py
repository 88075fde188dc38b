"""The process in which HDF5 files of others are read: see ``reader``."""

from __future__ import annotations

import codecs
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from serialpack.broken import broken_library
from serialpack.errors import InputError, RefusedError, SerialpackError, UsageError
from serialpack.formats.arrays.hdf5.attributes import shown_attributes, with_attributes
from serialpack.formats.arrays.hdf5.listed import entries
from serialpack.formats.arrays.hdf5.names import Names
from serialpack.formats.arrays.hdf5.odd import has_references
from serialpack.formats.arrays.hdf5.reader import DATA, END, FAILED, FRAME, KNOWN, MISTAKEN
from serialpack.formats.arrays.hdf5.streams import (
    DatasetRows,
    Npy,
    check,
    corner,
    map_pieces,
    no_more_files,
    npy_of,
    npz_pieces,
    rows,
)
from serialpack.formats.arrays.hdf5.tree import (
    FAILURES,
    TreeNode,
    damaged,
    datasets,
    first_of,
    found_at,
    is_dataset,
    sound_nodes,
)
from serialpack.formats.arrays.hdf5.types import NoArray, has_names, has_plain_items
from serialpack.formats.shared.document import EMPTY
from serialpack.formats.shared.preview import shown_corner
from serialpack.text import error_words

#: Seconds of work between two answers; after more, the library is taken to work without end.
_MOST_WORK = 60

#: The most bytes of memory that this process may have.
_MOST_MEMORY = 4 << 30
_TOO_MUCH = "it takes more than 4 GiB of memory to read it, or says so"

#: Bytes of chunks that are kept once read, as the next rows may be in them.
_CACHE = 64 << 20


def main() -> None:
    """Do what standard input asks for, and answer on standard output."""
    _bound_memory()
    _work_again()
    try:
        for answer in answers(**json.load(sys.stdin)):
            if isinstance(answer, dict):
                _send(KNOWN, json.dumps(answer, default=str).encode())
            else:
                _send(DATA, answer)
            _work_again()
        _send(END)
    except SerialpackError as error:
        _send(FAILED, json.dumps([type(error).__name__, error.message, error.hint]).encode())
    except MemoryError:
        _send(FAILED, json.dumps(["RefusedError", _TOO_MUCH, None]).encode())
    except BrokenPipeError:  # the parent has gone
        pass
    except Exception:  # an error in this program, not in the file
        _send(MISTAKEN, traceback.format_exc().encode("utf-8", "replace"))
    os._exit(0)  # the library may break down closing a damaged file


def answers(do: str, path: str, **how: Any) -> Iterator[Any]:
    """As ``reader.asked``, of the file at ``path``."""
    try:
        with _opened(path) as file:
            yield from _ANSWERS[do](file, **how)
    except (SerialpackError, BrokenPipeError):
        raise
    except ImportError as error:
        raise broken_library(error) from None
    except FAILURES as error:
        said = EMPTY if _is_empty(Path(path)) else error_words(error)
        raise InputError(f"no sound HDF5 file: {said}") from None


def _is_empty(path: Path) -> bool:
    try:
        return not path.stat().st_size
    except OSError:  # it is gone
        return False


def _opened(path: str) -> Any:
    import h5py
    import msgspec.msgpack  # noqa: F401  (while files may be opened)
    import numpy.lib.format  # noqa: F401

    for encoding in ("ascii", "latin-1"):
        codecs.lookup(encoding)
    try:
        return h5py.File(os.fsencode(path), "r", rdcc_nbytes=_CACHE)
    except BlockingIOError:
        raise InputError(
            "it is locked: another program writes it", hint="try again later, or copy it first"
        ) from None


def _way_of_rows(file: Any, dataset: Any) -> str | None:
    try:
        check(file, dataset)
        next(rows(dataset), b"")
    except NoArray:
        return None
    return "--to ndjson takes its rows"


def _one(file: Any, at: str | None, *, as_array: bool) -> Iterator[Any]:
    """Of the dataset called ``at``, or of the only one: first its format, and what beside it is
    dropped; then the bytes of that file. ``as_array``: only an .npy file will do."""
    dataset = _only(file) if at is None else _dataset_at(file, at)
    try:
        check(file, dataset)
        no_more_files()
        npy = npy_of(dataset)
    except NoArray as why:
        if as_array:
            raise _unheld(dataset, why, _way_of_rows(file, dataset)) from None
        try:
            check(file, dataset)
            pieces = rows(dataset)
            first = next(pieces, b"")
        except NoArray as other:
            raise _unheld(dataset, other, None) from None
        many = "many" if dataset.shape else "one"
        yield {"format": "msgpack", "dropped": _dropped(dataset), "rows": many}
        yield first
        yield from pieces
    else:
        yield {"format": "npy", "dropped": _dropped(dataset)}
        yield from npy.pieces()


def _all(file: Any, *, lists: bool = False) -> Iterator[Any]:
    """All datasets and attributes as an .npz file: first what ``_one`` tells first, and the
    datasets that are ``left`` out, with the reason; then the bytes.

    ``lists``: where just those are left out that hold lists of any length, or nothing, all come as
    a map of rows instead.
    """
    everything = list(sound_nodes(file))
    found = {node.name: node.what for node in everything if is_dataset(node)}
    held: dict[str, Npy] = {}
    others: dict[str, DatasetRows] = {}
    left: dict[str, str] = {}
    for name, dataset in found.items():
        try:
            check(file, dataset)
        except NoArray as why:
            left[name] = str(why)
        except RefusedError as why:  # only this dataset: it is in other files, say
            left[name] = why.said
    no_more_files()
    names = Names(found)
    for name in [name for name in found if name not in left]:
        if names.attribute(name) is not None:
            left[name] = "what an attribute would be called here"
            continue
        try:
            held[name] = npy_of(found[name])
        except NoArray as why:
            left[name] = str(why)
            others[name] = DatasetRows(found[name])
    is_map = lists and bool(others) and left.keys() == others.keys()
    made: dict[str, Npy | DatasetRows] = {**held, **others} if is_map else {**held}
    arrays, dropped = with_attributes(file, everything, made)
    if is_map and not all(map(_has_rows, arrays.values())):
        is_map = False
        arrays, dropped = with_attributes(file, everything, held)
    dropped += [*_meant(npy.dataset for npy in arrays.values()), *_beside(everything)]
    if is_map:
        yield {"format": "msgpack", "dropped": dropped, "rows": "one"}
        yield from map_pieces(arrays)
        return
    yield {"format": "npz", "dropped": dropped, "left": left}
    yield from npz_pieces(arrays)


def _has_rows(each: Npy | DatasetRows) -> bool:
    dataset = each.dataset
    return dataset.shape is None or has_plain_items(dataset.dtype)


def _heads(file: Any, count: int) -> Iterator[bytes]:
    """For each dataset and attribute a line for people: its name, and ``count`` rows."""
    found = [(node, _why_not(file, node)) for node in sound_nodes(file)]
    no_more_files()
    for name, shown in shown_attributes(file, "", count):
        yield shown_corner({name: shown})
    for node, why in found:
        if is_dataset(node):
            try:
                yield shown_corner({node.name: f"({why})" if why else corner(node.what, count)})
            except NoArray as error:
                yield shown_corner({node.name: f"({error})"})
            except RefusedError as error:
                yield shown_corner({node.name: f"({error.said})"})
            except FAILURES as error:
                yield shown_corner({node.name: f"({damaged(error)})"})
        if node.what is not None:
            for name, shown in shown_attributes(node.what, node.name, count):
                yield shown_corner({name: shown})


def _why_not(file: Any, node: TreeNode) -> str:
    """Why the dataset that ``node`` is is not read; empty where it is, and for what is no
    dataset."""
    try:
        if is_dataset(node):
            check(file, node.what)
    except NoArray as why:
        return str(why)
    except SerialpackError as why:
        return why.said
    return ""


def _only(file: Any) -> Any:
    """The dataset of a file that has one; UsageError that names them where there are others."""
    names = [node.name for node in datasets(file)]
    if len(names) == 1:
        return found_at(file, names[0])
    if not names:
        raise InputError("there is no dataset in it", hint="inspect tells what is")
    raise UsageError(
        f"it has {len(names):,} datasets: {first_of(names)}", hint="--at NAME takes one of them"
    )


def _dataset_at(file: Any, at: str) -> Any:
    import h5py

    found = found_at(file, at)
    if isinstance(found, h5py.Dataset):
        return found
    names = [node.name for node in datasets(found)] if isinstance(found, h5py.Group) else []
    told = first_of([f"{at}/{name}" for name in names])
    raise InputError(f"--at {at} names no dataset", hint=told and f"there are: {told}")


def _dropped(dataset: Any) -> list[str]:
    """In words, what is dropped of a dataset that is taken alone: its attributes, and names of
    numbers."""
    return [*(f"{dataset.name} has {name}" for name in dataset.attrs), *_meant([dataset])]


def _meant(arrays: Iterable[Any]) -> Iterator[str]:
    """In words, what items mean that arrays cannot tell."""
    for each in arrays:
        if has_names(each.dtype):
            yield f"{each.name} has names of numbers"
        if has_references(each):
            yield f"{each.name} has references, which are paths now"


def _beside(everything: list[TreeNode]) -> Iterator[str]:
    """In words, what stands beside the datasets of a file: links, types, and empty groups."""
    import h5py

    for node in everything:
        if node.what is None:
            yield f"{node.name} {node.why}"
        elif isinstance(node.what, h5py.Datatype):
            yield f"{node.name} is a type"
        elif isinstance(node.what, h5py.Group) and not len(node.what):
            yield f"{node.name} is an empty group"


def _unheld(dataset: Any, why: NoArray, hint: str | None) -> RefusedError:
    return RefusedError(f"{dataset.name} holds {why}, which no value is made of here", hint=hint)


def _send(kind: bytes, data: Any = b"") -> None:
    sys.stdout.buffer.write(FRAME.pack(kind, len(data)))
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _bound_memory() -> None:
    """Limit the memory of this process: a damaged file may ask for any."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))


def _work_again() -> None:
    """Give the library new time for the next answer. The signal at its end is not caught, and ends
    the process."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, _MOST_WORK)


_ANSWERS: dict[str, Callable[..., Iterator[Any]]] = {
    "list": entries,
    "one": _one,
    "all": _all,
    "heads": _heads,
}
