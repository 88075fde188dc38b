"""Tells what a part of a file counts for, where the whole file is estimated from it.

That is how many bytes of the file, and how many bytes in the survey, have as much in them as the
part has: what both take behind a codec is compared. The quick codec of the survey looks back half a
megabyte. Codecs that look further back gain more from a whole file than it does: a third, for JSON
whose records repeat each other's texts a megabyte apart. For these the part is compared with the
file by a codec that looks back as far.
"""

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from serialpack.bench.several.survey import Quick
from serialpack.codecs import CODECS
from serialpack.container.header import DEFAULT_BLOCK_SIZE
from serialpack.serializers import SERIALIZERS
from serialpack.stages.chain import Chain

if TYPE_CHECKING:
    from serialpack.bench.material import Material

#: The codec that stands for those that look far back: it does so in little time.
FAR = "zstd:9"


class Worth(NamedTuple):
    """What a part of a file counts for: so many bytes of the file, and so many (``squeezed``) of
    those that it takes in the survey."""

    bytes: float
    squeezed: float


class Parts:
    """Tells what the first bytes of ``material``,
    which is held of the file at ``path``, count for."""

    def __init__(self, path: str, material: "Material") -> None:
        self._path, self._material = path, material
        self._known: dict[tuple[int, bool], Worth] = {}

    def __call__(self, size: int, chain: Chain) -> Worth:
        """What the first ``size`` bytes count for behind ``chain``: by the quick codec, or where
        they are not all of the file and ``chain`` looks far back, by ``FAR``."""
        far = size < self._material.size and looks_far(chain)
        if (size, far) not in self._known:
            data = self._material.data[:size]
            taken = max((Quick(FAR) if far else Quick())(data), 1)
            bytes_, squeezed = _beside_far(self._path) if far else Worth(size / taken, 1.0)
            self._known[size, far] = Worth(bytes_ * taken, squeezed * taken)
        return self._known[size, far]


def looks_far(chain: Chain) -> bool:
    """Whether ``chain`` finds repeats that are a megabyte apart, or more."""
    codec = CODECS.cls(chain.codec.name)
    return codec.looks_far(chain.codec.values) or SERIALIZERS.cls(chain.serializer.name).compresses


@lru_cache(maxsize=1024)
def _beside_far(path: str) -> Worth:
    """What each byte counts for that ``FAR`` leaves of the file: told from its first block."""
    with Path(path).open("rb") as file:
        block = file.read(DEFAULT_BLOCK_SIZE)
    taken = max(Quick(FAR)(block), 1)
    return Worth(len(block) / taken, max(Quick()(block), 1) / taken)
