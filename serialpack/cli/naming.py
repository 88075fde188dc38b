"""How outputs are named after inputs."""

from __future__ import annotations

import os

from serialpack.errors import FileError

SUFFIX = ".spk"

#: Standard input, standard output.
STDIO = "-"


def packed_name(path: str) -> str:
    """``FILE.spk`` for ``FILE``, and for a store in it."""
    return _file_of(path) + SUFFIX


def _file_of(path: str) -> str:
    """``path``, or the file of the store whose URL it is."""
    if "://" not in path:
        return path
    from serialpack.stores.registry import is_store

    return path.partition("://")[2] if is_store(path) else path


def unpacked_name(path: str, *, stored: bool, salvage: bool = False) -> str:
    """``FILE`` for ``FILE.spk``; ``stored``: the name in the container, in the same folder.

    ``salvage``: the container is damaged, and its name wherever it is left.
    FileError where there is nothing to take off, or no stored name that is safe to use.
    """
    if not stored:
        if path.endswith(SUFFIX) and os.path.basename(path) != SUFFIX:
            return path[: -len(SUFFIX)]
        raise FileError(
            f"its name does not end in {SUFFIX}",
            path=path,
            hint="-o names the output, -N takes the one stored in it; --to FORMAT converts files",
        )
    from serialpack import api
    from serialpack.files import safe_name

    members = api.inspect(path, salvage=salvage).members
    name = safe_name(members[0].name) if members else None
    if name is None:
        raise FileError("holds no name that is safe to use", path=path, hint="-o names the output")
    return os.path.join(os.path.dirname(path), name)


def converted_name(path: str, to: str, *, stored: bool) -> str:
    """``FILE.json`` for ``FILE.yaml``, ``FILE.yaml.gz`` and ``FILE.yaml.spk``, for ``to`` json.

    ``stored``: for the name in the container. A name without a known ending gets one more.
    """
    from serialpack.compressed.source import uncompressed_name
    from serialpack.formats import FORMATS

    path = _file_of(path)
    if stored or path.endswith(SUFFIX):
        path = unpacked_name(path, stored=stored)
    folder, name = os.path.split(uncompressed_name(path))
    if FORMATS.by_extension(name) is not None and not name.startswith("."):
        name = name[: name.rindex(".")]
    ending = next(iter(FORMATS.declaration(to).extensions), f".{to}")
    return os.path.join(folder, name + ending)


def stat_of(path: str) -> os.stat_result | None:
    """The file's status; None where there is none, which reading it will then say."""
    try:
        return os.stat(path)
    except OSError:
        return None


def check_removal(path: str, *, keep: bool) -> None:
    """FileError for ``--rm`` of a link: what would be removed is not what was read."""
    if not keep and os.path.islink(path):
        raise FileError("is a symbolic link, which --rm does not remove", path=path, hint="use -k")
