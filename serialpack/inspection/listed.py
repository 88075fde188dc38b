"""The listing of a tar, a zip, or a file of datasets or tables, and its entries."""

from typing import TYPE_CHECKING, NamedTuple

from serialpack.errors import DamagedError

if TYPE_CHECKING:
    from serialpack.formats.arrays.extremes import Extreme

#: The most entries that are listed, and the most bytes of a stream that are searched for them.
MOST_ENTRIES = 10_000
MOST_BYTES = 64 << 20


class ListedArray(NamedTuple):
    """An array: the type of an item as NumPy spells it, the lengths, and the order, C or F."""

    dtype: object
    shape: tuple[int, ...]
    order: str

    @property
    def words(self) -> str:
        """The array as people read it: ``<f8, 100 x 3, C order``."""
        from serialpack.formats.arrays.header import words_of

        return words_of(self.dtype, self.shape, fortran=self.order == "F")


class ListedDataset(NamedTuple):
    """A dataset of HDF5: what it has beside what ``look.ArrayLook`` says of any array.

    ``chunks``: the lengths of a chunk, None where it has none; ``filters``: those that chunks went
    through, in order; ``attributes``: how many it has.
    """

    chunks: tuple[int, ...] | None
    filters: tuple[str, ...]
    attributes: int
    minimum: "Extreme | None"
    maximum: "Extreme | None"
    nan: int
    why: str = ""


class ListedEntry(NamedTuple):
    """One entry. ``packed``: bytes that it takes in the file, where known. ``modified``: ISO 8601,
    in UTC where it ends in Z, else in the local time of whoever wrote it. ``type``: file,
    folder, link, dataset, attribute, group, or other. ``array``: what the header of an array (.npy)
    says; its range is in ``dataset``. ``about``: where a link leads to, the value of an attribute,
    and the like."""

    name: str
    size: int
    packed: int | None
    modified: str | None
    type: str
    array: ListedArray | None = None
    dataset: ListedDataset | None = None
    about: str = ""


class Listing(NamedTuple):
    """The entries of a tar or zip, or the datasets of a file (``kind``). ``whole``: whether these
    are all; ``count``: how many there are, where that is known; ``why``: why no more are listed;
    ``damage``: the damage at which the list ends, if any."""

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
