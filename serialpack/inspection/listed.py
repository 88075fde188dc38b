"""What a listing is: the named things in a tar, a zip, an HDF5 file or a database."""

from typing import TYPE_CHECKING, NamedTuple

from serialpack.errors import DamagedError

if TYPE_CHECKING:
    from serialpack.formats.arrays.extremes import Extreme

#: The most entries that are listed, and the most bytes of a pipe that are read to find them.
MOST_ENTRIES = 10_000
MOST_BYTES = 64 << 20


class ListedArray(NamedTuple):
    """What the header of an array says: the type of an item as NumPy spells it (for records a list
    of names and types), the lengths, and the order, ``C`` or ``F``."""

    dtype: object
    shape: tuple[int, ...]
    order: str

    @property
    def words(self) -> str:
        """The array as people read it: ``<f8, 100 x 3, C order``."""
        from serialpack.formats.arrays.header import words_of

        return words_of(self.dtype, self.shape, fortran=self.order == "F")


class ListedDataset(NamedTuple):
    """What is known of an array beside its ``ListedArray``. Only datasets of HDF5 have ``chunks``,
    ``filters`` and ``attributes``.

    ``chunks``: the lengths of a chunk, None where the dataset is not chunked; ``filters``: what
    chunks went through when they were written, in order; ``attributes``: how many there are.
    ``minimum`` to ``why``: as in ``look.ArrayLook``.
    """

    chunks: tuple[int, ...] | None
    filters: tuple[str, ...]
    attributes: int
    minimum: "Extreme | None"
    maximum: "Extreme | None"
    nan: int
    why: str = ""


class ListedEntry(NamedTuple):
    """One entry of a listing.

    ``size``: bytes when unpacked; ``packed``: bytes that it takes in the file, None where that is
    not known. ``modified``: ISO 8601; in UTC where it ends in Z, else in the local time of whoever
    wrote it. ``type``: file, folder, link, dataset, attribute, group, table, view or other.
    ``array``: what the header of an array (a .npy file, a dataset) says; the range of its numbers
    is in ``dataset``. ``about``: more in words: where a link leads, the value of an attribute, the
    rows and columns of a table.
    """

    name: str
    size: int
    packed: int | None
    modified: str | None
    type: str
    array: ListedArray | None = None
    dataset: ListedDataset | None = None
    about: str = ""


class Listing(NamedTuple):
    """The entries of a file of this ``kind`` (tar, zip, hdf5, sqlite, ...).

    ``count``: how many there are in the file, None where that is not known; ``whole``: whether all
    are listed, and where not ``why``; ``damage``: the damage at which the list ends.
    """

    kind: str
    entries: tuple[ListedEntry, ...]
    count: int | None  # type: ignore[assignment]  # tuple's method, which nobody needs here
    whole: bool
    why: str = ""
    damage: DamagedError | None = None

    @property
    def size(self) -> int:
        """Bytes of the entries that are listed."""
        return sum(entry.size for entry in self.entries)

    @property
    def packed(self) -> int | None:
        """Bytes that these take in the file; None where that is not known."""
        sizes = [entry.packed for entry in self.entries if entry.packed is not None]
        return sum(sizes) if len(sizes) == len(self.entries) and sizes else None


def no_more(most: int) -> str:
    """The reason why a listing ends behind ``most`` entries, in words."""
    return f"no more than {most:,} are listed"
