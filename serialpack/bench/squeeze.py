"""What a part of a file takes in the survey, which all of it is told from.

Codecs that find again what stands far back gain more from a whole file than from a part of it, and
than the quick codec of the survey, which looks back half a megabyte: of JSON whose records repeat
each other's texts a megabyte apart by a third. So a part is held against the whole behind a codec
that looks back as far.
"""

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from serialpack.bench.survey import Quick
from serialpack.codecs import CODECS
from serialpack.container.records import DEFAULT_BLOCK_SIZE
from serialpack.serializers import SERIALIZERS
from serialpack.stages.chain import Chain

if TYPE_CHECKING:
    from serialpack.bench.material import Material

#: The codec that looks far back, and takes little time.
FAR = "zstd:9"


class Worth(NamedTuple):
    """What the first bytes of a file are, to tell of all of it: bytes of it, and bytes that it
    takes in the survey."""

    bytes: float
    squeezed: float


class Parts:
    """What the first bytes of ``material``, which is held of the file ``path``, tell of it."""

    def __init__(self, path: str, material: "Material") -> None:
        self._path, self._material = path, material
        self._known: dict[tuple[int, bool], Worth] = {}

    def __call__(self, size: int, chain: Chain) -> Worth:
        """What the first ``size`` of them are: of a part, behind a ``chain`` that looks far back,
        in proportion to what all takes behind one that does."""
        far = size < self._material.size and looks_far(chain)
        if (size, far) not in self._known:
            data = self._material.data[:size]
            taken = max((Quick(FAR) if far else Quick())(data), 1)
            bytes_, squeezed = _beside_far(self._path) if far else Worth(size / taken, 1.0)
            self._known[size, far] = Worth(bytes_ * taken, squeezed * taken)
        return self._known[size, far]


def looks_far(chain: Chain) -> bool:
    """Whether ``chain`` finds again what stands a megabyte back, or more."""
    codec = CODECS.cls(chain.codec.name)
    return codec.looks_far(chain.codec.values) or SERIALIZERS.cls(chain.serializer.name).compresses


@lru_cache(maxsize=1024)
def _beside_far(path: str) -> Worth:
    """What a block of the file is, as multiples of what it takes behind FAR."""
    with Path(path).open("rb") as file:
        block = file.read(DEFAULT_BLOCK_SIZE)
    taken = max(Quick(FAR)(block), 1)
    return Worth(len(block) / taken, max(Quick()(block), 1) / taken)
