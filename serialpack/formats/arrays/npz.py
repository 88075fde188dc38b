"""NumPy's .npz files: arrays by name, in a zip."""

from __future__ import annotations

from collections.abc import Callable
from typing import IO, Any, cast

from serialpack.errors import RefusedError, ValueRefusedError
from serialpack.formats.arrays.header import read_header
from serialpack.formats.arrays.npy import NpyFormat
from serialpack.formats.arrays.rows import array_in
from serialpack.formats.base import Read, SourceBlock
from serialpack.formats.shared.document import DocumentFormat, Malformed
from serialpack.formats.shared.file_objects import FileOver
from serialpack.formats.shared.large import LargeValue, ReadAt
from serialpack.formats.shared.preview import shown_corner
from serialpack.formats.shared.random_access import sought
from serialpack.values.kinds import shown, value_step


class NpzFormat(DocumentFormat):
    """A map of arrays: of each the rows, or the one item of an array without dimensions."""

    about = "NumPy arrays by name, in a zip"
    title = "npz"
    joins = False
    unpacked = ("has arrays by name", "unpack --at NAME -o NAME.npy takes one")
    one_record = True
    in_file = True
    cannot = NpyFormat.cannot | {"bare"}
    partly = NpyFormat.partly

    def too_large(self) -> RefusedError:
        return RefusedError(
            "arrays of more than 64 MiB together are not read as values",
            hint="--at NAME takes one of them",
        )

    def large_values(self, read: ReadAt, size: int) -> list[LargeValue]:
        from serialpack.formats.arrays.zipped import places

        return places(cast("IO[bytes]", FileOver(read, size)))

    def small_values(self, read: ReadAt, size: int, most: int) -> dict[str, str]:
        from serialpack.formats.arrays.zipped import small_arrays

        return small_arrays(cast("IO[bytes]", FileOver(read, size)), most)

    def read(self, data: bytes) -> list[Any]:
        from serialpack.formats.arrays.values import values_of

        return [self._arrays(data, values_of)]

    def read_written(self, data: bytes) -> list[Any]:
        from serialpack.formats.arrays.values import values_of

        return [self._arrays(data, values_of, written=True)]

    def count(self, block: SourceBlock) -> int:
        """One, where all its arrays are whole; no values are made of them."""
        try:
            return len([self._arrays(bytes(block.data), lambda _: None)])
        except Malformed as bad:
            raise self._placed(block, bad) from None

    def arrays(self, data: bytes) -> dict[str, Any]:
        """The arrays of NumPy that are in the file ``data``, by name; Malformed."""
        return self._arrays(data, lambda array: array.copy(order="K"))

    def _arrays(
        self, data: bytes, become: Callable[[Any], Any], *, written: bool = False
    ) -> dict[str, Any]:
        from serialpack.formats.arrays.zipped import array_told, arrays_in

        found: dict[str, Any] = {}
        for name, member in arrays_in(data, written=written):
            with array_told(name):
                header = read_header(member)
                found[name] = become(array_in(header, memoryview(member)[header.size :], 0))
        return found

    def look_at_head(self, read: Read, count: int) -> bytes:
        """The corner of each array, with its name: ``count`` rows, or why these are not read."""
        from serialpack.formats import FORMATS
        from serialpack.formats.arrays.zipped import opened_entries

        npy, shown = cast(NpyFormat, FORMATS.get("npy")), list[bytes]()
        try:
            with sought(read) as file:
                for name, read_array in opened_entries(file):
                    try:
                        found = npy.corner(read_array, count)
                    except RefusedError as refused:
                        found = f"({refused.message})"
                    shown.append(shown_corner({name: found}))
        except Malformed as bad:
            raise self._placed(SourceBlock(b"", index=0, offset=0), bad) from None
        return b"".join(shown)

    def check_document(self, document: Any) -> None:
        if type(document) is not dict:
            raise ValueRefusedError(
                f"{self.name} has arrays by name, this is no map: {shown(document)}",
                record=0,
                value_path="$",
                kind="bare",
                hint="--to npy holds one array",
            )

    def write(self, records: list[Any]) -> bytes:
        from serialpack.formats.arrays.made import npy_of_value

        (document,) = records
        if type(document) is not dict or not all(type(name) is str for name in document):
            raise TypeError("arrays have names")
        return self.of_arrays(
            {name: npy_of_value(value, f"${value_step(name)}") for name, value in document.items()}
        )

    def of_arrays(self, arrays: dict[str, bytes]) -> bytes:
        """The file of arrays by name, each given as an .npy file."""
        from serialpack.formats.arrays.zipped import zip_of

        return zip_of(arrays)
