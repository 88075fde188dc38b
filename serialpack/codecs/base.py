"""What a codec promises, and the one place where a decoder's output is bounded.

A codec's number names a *data format*: what its stored bytes mean never changes. ``size`` is
the restored size that the block header promises, already checked against the limits. The rule
for every codec: give back exactly ``size`` bytes or raise CodecError, and never allocate on the
word of the stored bytes. How each is kept to it is said in its class's ``bound``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from serialpack.bounded import StreamDecoder, decompress
from serialpack.errors import CodecError
from serialpack.leb128 import EndsEarly
from serialpack.stages.stage import Buffer, Stage, fail_backward, fail_forward
from serialpack.text import number_of

#: What samples tell of differences of numbers that leave more than a little: not much of them
#: comes again.
DIFFERENCES = "differences"


class Codec(Stage, ABC):
    """A compressor of whole buffers."""

    #: What keeps ``decompress`` from writing more than ``size``: documented, and tested for all.
    bound: ClassVar[str]
    #: The parameters with which it is worth comparing with others, as a chain spells them.
    levels: ClassVar[tuple[str, ...]] = ("",)

    @classmethod
    def worth_trying(cls, name: str) -> tuple[str, ...]:  # noqa: ARG003 (a class may have many)
        """``levels``, of the codec ``name``."""
        return cls.levels

    @classmethod
    def looks_far(cls, values: tuple[int, ...]) -> bool:  # noqa: ARG003 (levels may differ)
        """Whether it finds again, with these parameters, what stands a megabyte back."""
        return False

    #: Whether it works with a dictionary, too.
    takes_dictionary: ClassVar[bool] = False

    def use_dictionary(self, dictionary: bytes) -> None:
        """Work with ``dictionary``, a whole one of this codec's; where ``takes_dictionary``.

        CodecError where it is none.
        """
        raise NotImplementedError

    def compress(self, data: Buffer) -> Buffer:
        """The stored bytes of ``data``; SerialpackError where the codec fails, with the cause."""
        try:
            return self._compress(data)
        except BaseException as error:
            fail_forward(self.name, "compress", error)

    def decompress(self, stored: Buffer, size: int) -> Buffer:
        """The ``size`` bytes that were stored; CodecError for anything else."""
        try:
            return self._decompress(stored, size)
        except BaseException as error:
            fail_backward(self.name, "decode", error)

    #: Whether ``decompress_into`` writes where it is told to.
    restores_in_place: ClassVar[bool] = False

    def decompress_into(self, stored: Buffer, room: memoryview) -> Buffer:
        """The ``len(room)`` bytes that were stored: ``room`` with them, or others. To write there
        takes less than to get fresh memory. CodecError as by ``decompress``."""
        try:
            return self._decompress_into(stored, room)
        except BaseException as error:
            fail_backward(self.name, "decode", error)

    def decompress_pieces(self, stored: Buffer, size: int) -> Iterator[Buffer]:
        """The same in pieces, for a caller that may stop before the last: all at once unless a
        codec can do better. Never more than ``size`` bytes; CodecError where they are fewer."""
        try:
            yield from self._decompress_pieces(stored, size)
        except BaseException as error:
            fail_backward(self.name, "decode", error)

    @abstractmethod
    def _compress(self, data: Buffer) -> Buffer:
        """As ``compress``, but that the library's own errors may leave it."""

    @abstractmethod
    def _decompress(self, stored: Buffer, size: int) -> Buffer:
        """As ``decompress``, but that the library's own errors may leave it."""

    def _decompress_into(self, stored: Buffer, room: memoryview) -> Buffer:
        """As ``decompress_into``, likewise."""
        return self._decompress(stored, len(room))

    def _decompress_pieces(self, stored: Buffer, size: int) -> Iterator[Buffer]:
        """As ``decompress_pieces``, likewise."""
        yield self.decompress(stored, size)

    #: Whether it can tell sooner than by ``compress`` about how many bytes that leaves.
    estimates: ClassVar[bool] = False

    def estimated(self, data: Buffer, size: int = 0, samples: int = 1) -> int:
        """About how many bytes ``compress`` leaves of ``data``, where it ``estimates``; what it
        learns thereby serves when the same data are compressed next. They are so many ``samples``,
        as long as each other, of a block of ``size`` bytes, with their part of what is said once of
        it."""
        try:
            return self._estimated(data, max(size, len(data)), samples)
        except BaseException as error:
            fail_forward(self.name, "compress", error)

    def _estimated(self, data: Buffer, size: int, samples: int) -> int:
        """As ``estimated``, likewise."""
        raise NotImplementedError

    def learned(self) -> object:
        """What it learned by what it ``estimated`` last, for ``begins`` of codecs that compress
        more of the same; None where that serves no other data."""
        return None

    @property
    def heeds_differences(self) -> bool:
        """Whether it works otherwise where ``DIFFERENCES`` were ``learned``."""
        return False

    def begins(self, *, source: bool, learned: object = None) -> None:
        """Told whether what comes begins with the beginning of the ``source``, and what was
        ``learned`` of samples of it (as ``learned`` gives it, or ``DIFFERENCES``), where a codec
        may work otherwise. What it writes must be in the same data format: reading does not know.
        """

    def gains_on_records(self, block: Buffer) -> bool:  # noqa: ARG002
        """Whether text records, of which ``block`` is one of many, gain by ``for_records``."""
        return False

    def for_records(self) -> None:
        """Told that what comes is text of many records alike, where a codec may work otherwise.

        What it writes must be in the same data format: reading does not know of this.
        """


def decompress_stream(decoder: StreamDecoder, stored: Buffer, size: int) -> bytes:
    """Run a standard-library decoder over ``stored``, allowing it one byte more than ``size``."""
    try:
        data = decompress(decoder, stored, size)
    except EndsEarly:
        data = b""
    if len(data) != size or not decoder.eof:
        raise CodecError(f"does not restore to the {number_of(size, 'byte')} promised")
    if decoder.unused_data:
        raise CodecError("has bytes after its end")
    return data


def check_ratio(stored: int, size: int, most: int) -> None:
    """CodecError where ``size`` bytes cannot come out of so few stored bytes.

    ``most`` is the greatest expansion that the data format allows. For decoders that want the
    whole output's memory before they start: even then a few bytes cannot ask for gigabytes.
    """
    if size > stored * most:
        raise CodecError(f"holds {number_of(stored, 'byte')}, which cannot restore to {size:,}")


def check_size(found: int, size: int) -> None:
    """CodecError where the stored bytes' own header disagrees with the block header."""
    if found != size:
        raise CodecError(
            f"says it restores to {number_of(found, 'byte')}, the block header says {size:,}"
        )
