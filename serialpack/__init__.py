"""serialpack: convert and compress data files, with nothing changed silently.

    import serialpack

    serialpack.pack("data.json", "data.json.spk")
    serialpack.unpack("data.json.spk", "again.json")
    print(serialpack.inspect("data.json.spk").members[0].chain)

    serialpack.convert("config.yaml", "config.json")

    with serialpack.open("data.json.spk") as records:
        print(len(records), records[-1], records.fields("id", "name.first"))

    serialpack.pack_archive({"a.json": "a.json", "b/c.csv": "c.csv"}, "all.spk")
    serialpack.unpack_archive("all.spk", "folder")

    serialpack.dump({"any": ["object"]}, "object.spk")
    serialpack.load("object.spk")

    with serialpack.store("sqlite-kv://people.db") as people:
        people["ada"] = {"born": 1815}

Everything is imported when it is first used: ``import serialpack`` costs next to nothing.
"""

# Until the command is on its way Ctrl-C is Python's, with a traceback: nothing is loaded here.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from serialpack._version import __version__ as __version__
    from serialpack.api import inspect as inspect
    from serialpack.api import pack as pack
    from serialpack.api import unpack as unpack
    from serialpack.archive.read import unpack_archive as unpack_archive
    from serialpack.archive.write import pack_archive as pack_archive
    from serialpack.conversion.files import convert as convert
    from serialpack.conversion.tables.shaping import Shaping as Shaping
    from serialpack.dictionaries import Trained as Trained
    from serialpack.dictionaries import train_dictionary as train_dictionary
    from serialpack.errors import ArchiveError as ArchiveError
    from serialpack.errors import DamagedError as DamagedError
    from serialpack.errors import DroppedWarning as DroppedWarning
    from serialpack.errors import EmptyError as EmptyError
    from serialpack.errors import FileError as FileError
    from serialpack.errors import InputError as InputError
    from serialpack.errors import MissingLibraryError as MissingLibraryError
    from serialpack.errors import NotContainerError as NotContainerError
    from serialpack.errors import PickleWarning as PickleWarning
    from serialpack.errors import RefusedError as RefusedError
    from serialpack.errors import ScaleWarning as ScaleWarning
    from serialpack.errors import SerialpackError as SerialpackError
    from serialpack.errors import TruncatedError as TruncatedError
    from serialpack.errors import UnsupportedError as UnsupportedError
    from serialpack.errors import UsageError as UsageError
    from serialpack.errors import ValueRefusedError as ValueRefusedError
    from serialpack.inspection.info import Inspection as Inspection
    from serialpack.objects.dumping import dump as dump
    from serialpack.objects.dumping import dumps as dumps
    from serialpack.objects.lazy import LazyArray as LazyArray
    from serialpack.objects.loading import load as load
    from serialpack.objects.loading import loads as loads
    from serialpack.records.sequence import Records as Records
    from serialpack.records.sequence import open as open
    from serialpack.reports import ArchiveReport as ArchiveReport
    from serialpack.reports import ConvertReport as ConvertReport
    from serialpack.reports import PackReport as PackReport
    from serialpack.reports import UnpackReport as UnpackReport
    from serialpack.stores.mapping import Store as Store
    from serialpack.stores.mapping import store as store

#: Public name -> the module that defines it.
_PUBLIC = {
    "__version__": "_version",
    "pack": "api",
    "unpack": "api",
    "inspect": "api",
    "convert": "conversion.files",
    "Shaping": "conversion.tables.shaping",
    "train_dictionary": "dictionaries",
    "pack_archive": "archive.write",
    "unpack_archive": "archive.read",
    "dump": "objects.dumping",
    "dumps": "objects.dumping",
    "load": "objects.loading",
    "loads": "objects.loading",
    "open": "records.sequence",
    "Records": "records.sequence",
    "store": "stores.mapping",
    "Store": "stores.mapping",
    "LazyArray": "objects.lazy",
    "Trained": "dictionaries",
    "ArchiveReport": "reports",
    "ConvertReport": "reports",
    "PackReport": "reports",
    "UnpackReport": "reports",
    "Inspection": "inspection.info",
    "SerialpackError": "errors",
    "ArchiveError": "errors",
    "FileError": "errors",
    "MissingLibraryError": "errors",
    "UsageError": "errors",
    "InputError": "errors",
    "EmptyError": "errors",
    "NotContainerError": "errors",
    "DamagedError": "errors",
    "TruncatedError": "errors",
    "UnsupportedError": "errors",
    "DroppedWarning": "errors",
    "PickleWarning": "errors",
    "ScaleWarning": "errors",
    "RefusedError": "errors",
    "ValueRefusedError": "errors",
}

__all__ = [*_PUBLIC]  # noqa: PLE0604


def __getattr__(name: str) -> "Any":
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(f"{__name__}.{_PUBLIC[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})
