"""Estimates what a part of a file counts for, to tell from it what the whole file takes.

Codecs that find repeats far back gain more from a whole file than from a part of it, and than the
quick codec of the survey, which looks back half a megabyte: by a third for JSON whose records
repeat each other's texts a megabyte apart. So a part is compared with the whole by a codec that
looks back as far.
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

#: The codec that looks far back, and takes little time.
FAR = "zstd:9"


class Worth(NamedTuple):
    """What the first bytes of a file count for, in bytes of the file and in bytes that it takes in
    the survey."""

    bytes: float
    squeezed: float


class Parts:
    """Tells what the first bytes of ``material``, the part of the file ``path`` that is held, count
    for."""

    def __init__(self, path: str, material: "Material") -> None:
        self._path, self._material = path, material
        self._known: dict[tuple[int, bool], Worth] = {}

    def __call__(self, size: int, chain: Chain) -> Worth:
        """What the first ``size`` bytes count for: by what they take behind the quick codec, or
        where they are a part, and ``chain`` looks far back, by what they take behind ``FAR``."""
        far = size < self._material.size and looks_far(chain)
        if (size, far) not in self._known:
            data = self._material.data[:size]
            taken = max((Quick(FAR) if far else Quick())(data), 1)
            bytes_, squeezed = _beside_far(self._path) if far else Worth(size / taken, 1.0)
            self._known[size, far] = Worth(bytes_ * taken, squeezed * taken)
        return self._known[size, far]


def looks_far(chain: Chain) -> bool:
    """Whether ``chain`` finds repeats a megabyte back, or more."""
    codec = CODECS.cls(chain.codec.name)
    return codec.looks_far(chain.codec.values) or SERIALIZERS.cls(chain.serializer.name).compresses


@lru_cache(maxsize=1024)
def _beside_far(path: str) -> Worth:
    """What each byte that ``FAR`` leaves counts for, told from the first block of the file."""
    with Path(path).open("rb") as file:
        block = file.read(DEFAULT_BLOCK_SIZE)
    taken = max(Quick(FAR)(block), 1)
    return Worth(len(block) / taken, max(Quick()(block), 1) / taken)
