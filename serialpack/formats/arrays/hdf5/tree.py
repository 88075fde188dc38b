"""What is in an HDF5 file. Links out of it are told, and never followed."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

from serialpack.errors import InputError, RefusedError
from serialpack.formats.arrays.hdf5.odd import sound
from serialpack.text import quoted

#: What h5py raises for what is damaged. It makes the library's errors these, by what each is about
#: (h5py/_errors.pyx); NumPy raises them, too, for types and shapes that cannot be, and Python for
#: text that is none.
FAILURES = (OSError, RuntimeError, ValueError, KeyError, TypeError)

#: The most names that a message shows.
FEW = 10

#: A path with more links than this goes round in a circle.
_MOST_LINKS = 32


class TreeNode(NamedTuple):
    """Something in a file. ``name``: with those of the groups around it. ``what``: the dataset,
    group or type itself; None for a link that is not followed, and for what is damaged. ``why``:
    where the link leads, or what is wrong. ``is_link``: it is a link that is not followed;
    ``is_damaged``: it cannot be read."""

    name: str
    what: Any
    why: str = ""
    is_link: bool = False
    is_damaged: bool = False


def nodes(file: Any) -> Iterator[TreeNode]:
    """All that is in ``file``, each thing once, however many names it has; a group before what is
    in it."""
    import h5py

    seen = {_place(file)}
    groups = [("", file, iter(file))]
    while groups:
        above, group, names = groups[-1]
        name = next(names, None)
        if name is None:
            groups.pop()
            continue
        node = _node(group, name, above + name)
        if node.what is not None:
            place = _place(node.what)
            if place in seen:
                node = TreeNode(node.name, None, "another name of what is told already")
            seen.add(place)
        yield node
        if isinstance(node.what, h5py.Group):
            groups.append((f"{node.name}/", node.what, iter(node.what)))


def _node(group: Any, name: str, path: str) -> TreeNode:
    import h5py

    try:
        link = group.get(name, getlink=True)
        if isinstance(link, h5py.SoftLink):
            return TreeNode(path, None, f"-> {link.path}", is_link=True)
        if isinstance(link, h5py.ExternalLink):
            leads = f"-> {link.path} in the file {link.filename}"
            return TreeNode(path, None, leads, is_link=True)
        return TreeNode(path, sound(group[name]))
    except FAILURES as error:
        return TreeNode(path, None, damaged(error), is_damaged=True)


def damaged(error: Exception) -> str:
    """What a message says of something for which h5py raises ``error``, one of ``FAILURES``."""
    return f"damaged: {' '.join(str(error).split())}"


def _place(what: Any) -> tuple[int, int]:
    import h5py

    info = h5py.h5o.get_info(what.id)
    return info.fileno, info.addr


def is_dataset(node: TreeNode) -> bool:
    import h5py

    return isinstance(node.what, h5py.Dataset)


def sound_nodes(file: Any) -> Iterator[TreeNode]:
    """As ``nodes``; InputError where something is damaged."""
    for node in nodes(file):
        if node.is_damaged:
            raise InputError(f"no sound HDF5 file: {node.name}: {node.why}")
        yield node


def datasets(file: Any) -> Iterator[TreeNode]:
    """The datasets in ``file``; InputError where something in it is damaged."""
    return filter(is_dataset, sound_nodes(file))


def found_at(file: Any, path: str, *, asked: str = "--at ") -> Any:
    """The group or dataset at ``path``; InputError where there is none, RefusedError where it is in
    another file."""
    import h5py

    at, steps, links = file, _steps(path), 0
    while steps:
        name = steps.popleft()
        try:
            link = at.get(name, getlink=True) if isinstance(at, h5py.Group) else None
        except (KeyError, ValueError):
            link = None
        if link is None:
            names = [node.name for node in datasets(file)]
            hint = f"there are: {first_of(names)}"
            raise InputError(f"{asked}{path}: there is no such dataset", hint=hint)
        if isinstance(link, h5py.ExternalLink):
            raise RefusedError(
                f"{asked}{path} is in another file, {link.filename}, which is not opened",
                hint=f"name that file, with --at {quoted(link.path)}",
            )
        if isinstance(link, h5py.SoftLink):
            links += 1
            if links > _MOST_LINKS:
                raise InputError(f"{asked}{path}: its links lead round in a circle")
            steps.extendleft(reversed(_steps(link.path)))
            at = file if link.path.startswith("/") else at
        else:
            at = at[name]
    return sound(at)


def first_of(names: list[str]) -> str:
    """A few names, as they are typed."""
    return ", ".join(map(quoted, names[:FEW])) + (", ..." if len(names) > FEW else "")


def _steps(path: str) -> deque[str]:
    return deque(step for step in path.split("/") if step not in ("", "."))
