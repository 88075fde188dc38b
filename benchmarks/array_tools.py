"""What keeps an array in a file: serialpack, and those that people use; each run by itself.

    python -m benchmarks.array_tools 'blosc2' a.npy a.b2      one line of JSON

In a process of its own one array (.npy) or list of texts (.json) is read, kept by one tool and read
back. Measured are the two calls, after one on next to nothing, by which all is imported.
"""

from __future__ import annotations

import gc
import json
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

#: What is kept: an array, or a list of texts.
Data = Any


class Tool(NamedTuple):
    """``write`` gets the data and where to; ``read`` gives them back from there. ``source``: both
    get the file of the data instead, which is what they pack. ``texts``: whether it keeps any
    object, not arrays alone. ``best``: whether it is set to be small, not as it is by default."""

    write: Callable[[Data, Path], object]
    read: Callable[[Path], Data]
    package: str
    texts: bool = False
    best: bool = False
    source: bool = False


def _serialpack(effort: int) -> Tool:
    def write(source: Path, target: Path) -> None:
        import serialpack

        if source.suffix == ".npy":
            serialpack.pack(source, target, effort=effort)
        else:
            serialpack.dump(_loaded(source), target, effort=effort)

    def read(path: Path) -> Data:
        import numpy as np

        import serialpack

        found = serialpack.load(path, mmap_mode="r")
        return found if isinstance(found, list) else np.asarray(found)

    return Tool(write, read, "", texts=True, best=effort == 9, source=True)


def _joblib(compress: Any, *, best: bool = False) -> Tool:
    def write(data: Data, path: Path) -> None:
        import_module("joblib").dump(data, path, compress=compress)

    return Tool(write, lambda path: import_module("joblib").load(path), "joblib", True, best)


def _savez() -> Tool:
    def write(data: Data, path: Path) -> None:
        import numpy as np

        with path.open("wb") as file:
            np.savez_compressed(file, data)

    def read(path: Path) -> Data:
        import numpy as np

        with np.load(path) as found:
            return found["arr_0"]

    return Tool(write, read, "numpy")


def _blosc2(**settings: Any) -> Tool:
    def write(data: Data, path: Path) -> None:
        blosc2 = import_module("blosc2")
        chosen = dict(settings)
        if chosen:
            filters = [getattr(blosc2.Filter, chosen.pop("filter"))]
            chosen = {"cparams": {"codec": blosc2.Codec.ZSTD, "filters": filters, **chosen}}
        blosc2.asarray(data, urlpath=str(path), mode="w", **chosen)

    return Tool(
        write,
        lambda path: import_module("blosc2").open(str(path))[...],
        "blosc2",
        best=bool(settings),
    )


def _zarr(*, best: bool = False) -> Tool:
    def write(data: Data, path: Path) -> None:
        zarr = import_module("zarr")
        if best:
            codec = import_module("zarr.codecs").BloscCodec
            how = {"compressors": [codec(cname="zstd", clevel=9, shuffle="bitshuffle")]}
            zarr.create_array(str(path), data=data, **how)
        else:
            zarr.save_array(str(path), data)

    def read(path: Path) -> Data:
        return import_module("zarr").open_array(str(path), mode="r")[...]

    return Tool(write, read, "zarr", best=best)


def _tables(level: int, library: str, *, bits: bool = False) -> Tool:
    def write(data: Data, path: Path) -> None:
        tables = import_module("tables")
        filters = tables.Filters(complevel=level, complib=library, bitshuffle=bits)
        with tables.open_file(str(path), "w") as file:
            file.create_carray("/", "a", obj=data, filters=filters)

    def read(path: Path) -> Data:
        with import_module("tables").open_file(str(path)) as file:
            return file.root.a[...]

    return Tool(write, read, "tables", best=bits)


def _h5py(**settings: Any) -> Tool:
    def write(data: Data, path: Path) -> None:
        with import_module("h5py").File(path, "w") as file:
            file.create_dataset("a", data=data, chunks=True, **settings)

    def read(path: Path) -> Data:
        with import_module("h5py").File(path) as file:
            return file["a"][...]

    return Tool(write, read, "h5py", best=len(settings) > 1)


def _nifti() -> Tool:
    def write(data: Data, path: Path) -> None:
        import numpy as np

        nibabel = import_module("nibabel")
        # It knows no booleans, and stores 64-bit integers only where it is told to.
        kept = data.astype("u1") if data.dtype == bool else data
        nibabel.save(nibabel.Nifti1Image(kept, np.eye(4), dtype=kept.dtype), path)

    def read(path: Path) -> Data:
        import numpy as np

        return np.asanyarray(import_module("nibabel").load(path).dataobj)

    return Tool(write, read, "nibabel")


def _pcodec(level: int) -> Tool:
    def write(data: Data, path: Path) -> None:
        import numpy as np

        pcodec = import_module("pcodec")
        numbers = data.view("u1") if data.dtype == bool else data
        config = pcodec.ChunkConfig(compression_level=level, enable_8_bit=True)
        flat = np.ascontiguousarray(numbers).reshape(-1)
        path.write_bytes(import_module("pcodec.standalone").simple_compress(flat, config))

    def read(path: Path) -> Data:
        return import_module("pcodec.standalone").simple_decompress(path.read_bytes())

    return Tool(write, read, "pcodec", best=level > 8)


def _xz() -> Tool:
    def write(data: Data, path: Path) -> None:
        path.write_bytes(import_module("lzma").compress(data.tobytes("A"), preset=6))

    def read(path: Path) -> Data:
        import numpy as np

        return np.frombuffer(import_module("lzma").decompress(path.read_bytes()), "u1")

    return Tool(write, read, "", best=True)


TOOLS: dict[str, Tool] = {
    "serialpack -3": _serialpack(3),
    "serialpack -9": _serialpack(9),
    "joblib": _joblib(3),
    "np.savez_compressed": _savez(),
    "blosc2": _blosc2(),
    "zarr": _zarr(),
    "tables": _tables(5, "blosc"),
    "h5py": _h5py(compression="gzip"),
    "nibabel": _nifti(),
    "pcodec": _pcodec(8),
    "joblib, xz": _joblib(("xz", 9), best=True),
    "blosc2, zstd 9": _blosc2(clevel=9, filter="SHUFFLE"),
    "blosc2, zstd 9, bits": _blosc2(clevel=9, filter="BITSHUFFLE"),
    "zarr, blosc zstd 9": _zarr(best=True),
    "tables, blosc2 zstd 9": _tables(9, "blosc2:zstd", bits=True),
    "h5py, gzip 9": _h5py(compression="gzip", compression_opts=9, shuffle=True),
    "pcodec, 12": _pcodec(12),
    "xz -6": _xz(),
}

#: The endings that tools insist on.
ENDINGS = {"nibabel": ".nii.gz"}


def _loaded(path: Path) -> Data:
    import numpy as np

    return np.load(path) if path.suffix == ".npy" else json.loads(path.read_text("utf-8"))


def _memory(key: str) -> int:
    """Resident bytes now (VmRSS), or at most (VmHWM); 0 where the system does not tell."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(key):
                return int(line.split()[1]) << 10
    return 0


def _measured(call: Callable[[], Data]) -> tuple[dict[str, float], Data]:
    gc.collect()
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = _memory("VmRSS")
    cpu, wall = process_time(), perf_counter()
    found = call()
    wall, cpu = perf_counter() - wall, process_time() - cpu
    return {"seconds": wall, "cpu": cpu, "peak": max(_memory("VmHWM") - before, 0)}, found


def _same(data: Data, found: Data) -> bool:
    """The items, bit for bit; their shape and order are not all tools' to keep."""
    if isinstance(data, list):
        return bool(data == found)
    return found.tobytes("A") in (data.tobytes("C"), data.tobytes("F"))


def size_of(path: Path) -> int:
    """Bytes of a file, or of all files in a folder."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(each.stat().st_size for each in files if each.is_file())


def main() -> None:
    name, source, target = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    import numpy as np

    tool, data = TOOLS[name], _loaded(source)
    with tempfile.TemporaryDirectory() as folder:
        few = Path(folder, f"few{source.suffix}")
        if source.suffix == ".npy":
            np.save(few, np.zeros((30, 40, 8), data.dtype))
        else:
            few.write_text(json.dumps(["few"] * 100), "utf-8")
        there = Path(folder, f"there{ENDINGS.get(name, '')}")
        tool.write(few if tool.source else _loaded(few), there)
        tool.read(there)
    given = source if tool.source else data
    written, _ = _measured(lambda: tool.write(given, target))
    read, found = _measured(lambda: tool.read(target))
    print(
        json.dumps(
            {
                "size": size_of(target),
                "write": written,
                "read": read,
                "same": _same(data, found),
            }
        )
    )


if __name__ == "__main__":
    main()
