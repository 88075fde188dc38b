"""Dictionaries that many small files share: trained, read, and found again by who unpacks.

A small file says little in which a compressor could find anything twice; a dictionary has what
files of its kind have in common. It is a file in zstd's own format (RFC 8878, 5). A container
names its hash and its name, and nothing else is taken for it: who unpacks finds it beside the
container, in a folder above that, or in the folder of the user's configuration, by its name; or,
beside it and in the configuration's, under any name that ends in ``.dict``, by its hash; or is
given it. What was read once is known from then on, to the whole process.
"""

from __future__ import annotations

import os
import stat
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from serialpack.checked import checked
from serialpack.codecs import CODECS
from serialpack.codecs.zstd import dictionary_id, train
from serialpack.container.frames import checksum
from serialpack.container.names import DictionaryName
from serialpack.errors import (
    CodecError,
    FileError,
    FolderError,
    InputError,
    MissingDictionaryError,
    MissingFileError,
    RefusedError,
    UsageError,
)
from serialpack.files.output import Output
from serialpack.files.paths import safe_name
from serialpack.files.source import Path, Source, file_error, open_folders
from serialpack.files.targets import check_output
from serialpack.stages.chain import Chain, parse_stage
from serialpack.stages.effort import DEFAULT_EFFORT, EFFORTS
from serialpack.text import number_of

#: The most bytes of a source that is packed with a dictionary: in larger ones there is enough that
#: comes twice.
MOST_SOURCE = (64 << 10) - 1

#: Bytes of a trained dictionary: as many as the zstd program's.
SIZE = 110 << 10

#: Bytes that a dictionary is trained from: a hundred times its own are enough, says libzstd.
_SAMPLES = 100 * SIZE

#: The most bytes of a dictionary that is read.
_MOST = 16 << 20

#: The ending of files that are looked into for a dictionary with another name than the container's;
#: and the most of them in a folder.
_SUFFIX = ".dict"
_MOST_NAMED = 64

#: Bytes at the front that tell a dictionary from other files.
_HEAD = 16

#: A hint on how to get a dictionary to pack with.
_TRAINS = "pack -r FOLDER --shared-dict PATH trains one where there is none"
#: The same in Python, where nothing trains it on the way.
_MADE = "train_dictionary(files, path) makes one"

#: A hint on which dictionary unpacks.
_PACKED_WITH = "name the one that was packed with; serialpack inspect FILE tells its name and hash"

#: A hint on how to unpack with one that is not found.
_NAMES_IT = "--shared-dict PATH names it"

#: The most files that are known at a time.
_KNOWN = 256


class Dictionary(NamedTuple):
    """A dictionary, or the facts of one that is missing.

    ``data``: all its bytes; None where it is missing. ``elsewhere``: a file that has its name, but
    other bytes: another dictionary, or this one damaged.
    """

    named: DictionaryName
    data: bytes | None = None
    elsewhere: str | None = None

    def __str__(self) -> str:
        return str(self.named)

    @property
    def content(self) -> bytes:
        """Its bytes; MissingDictionaryError where it is missing."""
        if self.data is not None:
            return self.data
        if _named is not None:
            raise MissingDictionaryError(
                f"needs the dictionary {self.named}: {_named}",
                hint=f"name the one of the hash {self.named.check:016x}, or put it beside the file"
                f" as NAME{_SUFFIX}",
            )
        other = f": {self.elsewhere} is another one, or damaged" if self.elsewhere else ""
        raise MissingDictionaryError(
            f"needs the dictionary {self.named}, which is neither beside it nor in"
            f" {configuration_folder()}{other}",
            hint=_NAMES_IT,
        )


class _Named(NamedTuple):
    """A dictionary that was named to unpack with: its file, and its hash."""

    path: str
    check: int

    def __str__(self) -> str:
        """What is said of it where it is not the one that is needed."""
        return f"{self.path} is another one, or damaged: its hash is {self.check:016x}"


def not_found() -> str:
    """What is said of a dictionary that is not found: how it is, or that the one that was named is
    another."""
    return _NAMES_IT if _named is None else str(_named)


_lock = threading.Lock()
#: The dictionaries that were read, by hash; and by path, with the state of the file then.
_known: dict[int, Dictionary] = {}
_read: dict[str, tuple[tuple[int, ...], Dictionary]] = {}
#: The dictionary that was named last to unpack with.
_named: _Named | None = None
#: Folder -> its state when it was listed, and the files in it that may be dictionaries.
_listed: dict[str, tuple[int, list[str]]] = {}

#: Nanoseconds after which a change of a folder surely changes its time, too.
_SETTLED = 2 * 10**9


def read(path: Path, hint: str = _TRAINS) -> Dictionary:
    """The dictionary in the file ``path``, which is known from now on.

    MissingFileError, FileError; InputError where it is none. ``hint``: what to do then.
    """
    text = os.fspath(path)
    try:
        found = os.stat(text)
    except OSError as error:
        raise MissingFileError("there is no such dictionary", path=text, hint=hint) from error
    state = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
    with _lock:
        seen = _read.get(text)
    if seen is not None and seen[0] == state:
        return seen[1]
    if stat.S_ISDIR(found.st_mode):
        raise FolderError("is a folder, and no dictionary", path=text, hint=hint)
    with Source(text) as source:
        data = source.read(_MOST + 1)
    if len(data) > _MOST or not dictionary_id(data):
        raise InputError("is no dictionary of zstd", path=text, hint=hint)
    dictionary = Dictionary(DictionaryName(checksum(data), os.path.basename(text)), data)
    with _lock:
        if len(_read) >= _KNOWN:
            _read.clear()
            _known.clear()
        _read[text] = state, dictionary
        _known[dictionary.named.check] = dictionary
    return dictionary


def know(path: Path) -> None:
    """Read the dictionary in the file ``path``, to unpack with; errors as of ``read``."""
    global _named
    _named = _Named(os.fspath(path), read(path, _PACKED_WITH).named.check)


def for_source(path: Path, chain: Chain, size: int) -> DictionaryName | None:
    """The dictionary in the file ``path`` for a source of ``size`` bytes; None where the source is
    too large to gain by it.

    UsageError where the codec of ``chain`` works with no dictionary; what ``read`` raises.
    """
    check_codec(chain)
    named = read(path, _MADE).named
    return named if size <= MOST_SOURCE else None


def check_codec(chain: Chain) -> None:
    """UsageError where the codec of ``chain`` works with no dictionary."""
    if not CODECS.cls(chain.codec.name).takes_dictionary:
        raise UsageError(f"a shared dictionary is for zstd, and {chain} has another codec")


def find(named: DictionaryName) -> Dictionary:
    """The dictionary that a container names; without its bytes where it is not found."""
    with _lock:
        known = _known.get(named.check)
    if known is not None:
        return Dictionary(named, known.data)
    elsewhere = None
    if (name := safe_name(named.name)) is not None:
        for folder in _places():
            path = os.path.join(folder, name)
            if not os.path.isfile(path):
                continue
            if (data := _data_of(path, named)) is not None:
                return Dictionary(named, data)
            elsewhere = elsewhere or path
    for folder in (*map(os.path.abspath, open_folders()), configuration_folder()):
        for path in _candidates(folder):
            if (data := _data_of(path, named)) is not None:
                return Dictionary(named, data)
    return Dictionary(named, None, elsewhere)


def _data_of(path: str, named: DictionaryName) -> bytes | None:
    """The bytes of the file ``path``, where it is the dictionary that is ``named``; else None."""
    try:
        found = read(path)
    except (FileError, InputError):
        return None
    return found.data if found.named.check == named.check else None


def _candidates(folder: str) -> list[str]:
    """The files of ``folder`` that end in ``.dict``, begin as a dictionary, and are not too large.

    It is listed anew once it has changed: many containers may miss the same dictionary.
    """
    try:
        state = os.stat(folder).st_mtime_ns
        seen = _listed.get(folder)
        if seen is None or seen[0] != state or time.time_ns() < state + _SETTLED:
            with os.scandir(folder) as entries:
                found = [
                    each.path
                    for each in entries
                    if each.name.endswith(_SUFFIX)
                    and each.is_file()
                    and each.stat().st_size <= _MOST
                ]
            if len(_listed) >= _KNOWN:
                _listed.clear()
            called = sorted(found)[:_MOST_NAMED]
            seen = _listed[folder] = state, [path for path in called if _begins_as_one(path)]
    except OSError:
        return []
    return seen[1]


def _begins_as_one(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return dictionary_id(file.read(_HEAD)) != 0
    except OSError:
        return False


def _places() -> Iterator[str]:
    """The folders where dictionaries are looked for, each once: those of files, those above them,
    and the user's.

    Also those of files that are read elsewhere at the same time: by its hash no dictionary is taken
    for another.
    """
    seen: dict[str, None] = {}
    for below in open_folders():
        folder = os.path.abspath(below)
        while folder not in seen:
            seen[folder] = None
            folder = os.path.dirname(folder)
    seen[configuration_folder()] = None
    return iter(seen)


def configuration_folder() -> str:
    """The folder of the user's settings, ``config.toml`` among them."""
    if os.name == "nt":
        home = os.environ.get("APPDATA") or os.path.expanduser("~")
    elif sys.platform == "darwin":
        home = os.path.expanduser("~/Library/Application Support")
    else:
        home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return os.path.join(home, "serialpack")


class Trained(NamedTuple):
    """A dictionary that was made, and how many ``files`` it was trained from."""

    dictionary: Dictionary
    files: int


@checked
def train_dictionary(
    sources: Iterable[Path], path: Path, *, effort: int = DEFAULT_EFFORT
) -> Trained:
    """Train a dictionary from ``sources``, small files of one kind, into the new file ``path``.

    It appears whole or not at all. Files of up to 64 KiB count, and of many those spread evenly
    over all of them: some 11 MB are read. The same files give the same dictionary. What cannot be
    read is passed over, if anything else is there.

    Raises FileError, UsageError; RefusedError where the files are too few or too small.
    """
    check_output(path, force=False)
    sizes: list[tuple[str, int]] = []
    unread: FileError | None = None
    for each in sources:
        try:
            found = os.stat(each)
        except OSError as error:
            unread = unread or file_error(error, os.fspath(each), "read")
            continue
        except ValueError:
            continue
        if 0 < found.st_size <= MOST_SOURCE and stat.S_ISREG(found.st_mode):
            sizes.append((os.fspath(each), found.st_size))
    if unread is not None and not sizes:
        raise unread
    step = -(-sum(size for _, size in sizes) // _SAMPLES) or 1
    samples: list[bytes] = []
    for name, _ in sizes[::step]:
        try:
            with Source(name) as source:
                samples.append(source.read(MOST_SOURCE))
        except FileError:
            continue
    try:
        level = parse_stage(CODECS, "zstd", EFFORTS[effort].shared).values[0]
        data = train(samples, SIZE, level)
    except CodecError as error:
        files = number_of(len(samples), "file")
        said = f"no dictionary can be trained from {files} of up to 64 KiB: {error}"
        if not samples:
            said = "no input is a file of up to 64 KiB, of which a dictionary could be trained"
        hint = "pack without --shared-dict"
        raise RefusedError(said, path=os.fspath(path), hint=hint) from None
    with Output(path) as output:
        output.write(data)
    return Trained(read(path), len(samples))
