"""How outputs are named after inputs, and what was typed."""

from __future__ import annotations

import os

from serialpack.errors import FileError, SerialpackError, UsageError
from serialpack.far import is_far, is_store
from serialpack.files.targets import is_device
from serialpack.text import quoted

SUFFIX = ".spk"

#: Standard input, standard output.
STDIO = "-"


def typed_words() -> list[str]:
    """All that was typed behind the name of the program: hints show it again."""
    import click  # not above: worker processes need none of it

    return [*click.get_current_context().find_root().obj]


def beside(path: str) -> str:
    """The path that outputs of ``path`` are named after: itself, so that they stand beside it.

    Of a store the path of its file; of a URL that nothing can be written beside, its last part:
    they go where one is.
    """
    if is_store(path):
        return path.partition("://")[2]
    if not is_far(path):
        return path
    from serialpack.far.urls import base_name, is_writable
    from serialpack.files.paths import safe_name

    if is_writable(path):
        return path
    name = safe_name(base_name(path))
    if name is None:
        raise FileError("has no name that a file can have", path=path, hint="-o names the output")
    return name


def packed_name(path: str) -> str:
    """``FILE.spk`` for ``FILE``, and for a store in it."""
    return beside(path) + SUFFIX


def unpacked_name(path: str, *, stored: bool, salvage: bool = False) -> str:
    """``FILE`` for ``FILE.spk``; ``stored``: the name in the container, in the same folder.

    ``salvage``: the container is damaged, and the name is taken from wherever it is left in it.
    FileError where there is nothing to take off, or no stored name that is safe to use.
    """
    if is_store(path):
        way = f"unpack --to ndjson {quoted(path)} writes its values"
        raise FileError("is a store, and no container", path=path, hint=way)
    if not stored:
        target = beside(path)
        if target.endswith(SUFFIX) and os.path.basename(target) != SUFFIX:
            return target[: -len(SUFFIX)]
        raise FileError(
            f"its name does not end in {SUFFIX}",
            path=path,
            hint="-o names the output, -N takes the one stored in it; --to FORMAT converts files",
        )
    from serialpack import api
    from serialpack.files.paths import safe_name

    members = api.inspect(path, salvage=salvage).members
    name = safe_name(members[0].name) if members else None
    if name is None:
        raise FileError("holds no name that is safe to use", path=path, hint="-o names the output")
    return os.path.join(os.path.dirname(beside(path)), name)


def folder_name(path: str) -> str:
    """``FILE`` for the archive ``FILE.spk``, whose entries go below it; as ``unpacked_name``."""
    try:
        return unpacked_name(path, stored=False)
    except FileError as error:
        error.hint = "-o names the folder that its entries go to"
        raise


def converted_name(path: str, to: str, *, stored: bool) -> str:
    """``FILE.json`` for ``FILE.yaml``, ``FILE.yaml.gz`` and ``FILE.yaml.spk``, for ``to`` json.

    ``stored``: for the name in the container. A name without a known ending gets one more.
    """
    from serialpack.compressed.source import uncompressed_name
    from serialpack.formats import FORMATS

    target = beside(path)
    if stored or target.endswith(SUFFIX):
        target = unpacked_name(path, stored=stored)
    folder, name = os.path.split(uncompressed_name(target))
    if FORMATS.by_extension(name) is not None and not name.startswith("."):
        name = name[: name.rindex(".")]
    return os.path.join(folder, name + ending_of(to))


def ending_of(to: str) -> str:
    """How names of files in the format ``to`` end."""
    from serialpack.formats import FORMATS

    return next(iter(FORMATS.declaration(to).extensions), f".{to}")


def from_root(path: str) -> str:
    """``path`` as it is called from any folder; a URL is called the same everywhere."""
    return path if is_far(path) else os.path.abspath(path)


def stat_of(path: str) -> os.stat_result | None:
    """The status of a file; None where there is none: reading the file will say so."""
    from serialpack.files.source import status

    try:
        return status(path)
    except (SerialpackError, ValueError):
        return None


def is_there(target: str | None) -> bool:
    """Whether there is a file, or something else that is not written to as it stands."""
    if target is None or target == STDIO:
        return False
    return not is_device(target) and stat_of(target) is not None


def check_removal(path: str, *, keep: bool) -> None:
    """FileError for ``--rm`` of a link, as what would be removed is not what was read, and of
    what cannot be removed."""
    if not keep and is_store(path):
        raise UsageError("--rm removes files, not stores")
    if not keep and is_far(path):
        from serialpack.far.urls import is_writable

        if not is_writable(path):
            raise FileError("is only read, --rm does not remove it", path=path, hint="use -k")
    if not keep and os.path.islink(path):
        raise FileError("is a symbolic link, which --rm does not remove", path=path, hint="use -k")
