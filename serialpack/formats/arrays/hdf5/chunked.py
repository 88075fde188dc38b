"""Datasets read by the chunks that are stored of them: items without a chunk are the fill value."""

from __future__ import annotations

import math
from typing import Any

#: A dataset is sparse where it may have so many times more chunks than are stored: the library
#: looks for each of them, which takes about a hundredth of the time of reading one here.
_SPARSE = 64


def is_sparse(dataset: Any) -> bool:
    """Whether a dataset of h5py has so few stored chunks that it is quicker read by these."""
    import h5py

    if not dataset.chunks or not dataset.size or dataset.dtype.hasobject or dataset.dtype.subdtype:
        return False
    made = dataset.id.get_create_plist()
    if made.get_fill_time() == h5py.h5d.FILL_TIME_NEVER:  # no fill value is stored
        return False
    lengths = zip(dataset.shape, dataset.chunks, strict=True)
    most = math.prod(-(-length // chunk) for length, chunk in lengths)
    return bool(dataset.id.get_num_chunks() * _SPARSE < most)


class ChunkedDataset:
    """A dataset, with as much of what one of h5py has as is asked of it; only its stored chunks are
    read."""

    def __init__(self, dataset: Any) -> None:
        import numpy as np

        self._dataset = dataset
        self.shape, self.dtype, self.chunks = dataset.shape, dataset.dtype, dataset.chunks
        self.id = dataset.id
        origins: list[tuple[int, ...]] = []
        self.id.chunk_iter(lambda chunk: origins.append(chunk.chunk_offset))
        origins.sort()
        #: Where the stored chunks begin, in the order of the first index.
        self._origins = np.array(origins, np.int64).reshape(-1, len(self.shape))

    def __getitem__(self, region: tuple[Any, ...]) -> Any:
        """The items of ``region``, which has an index or a slice for some first dimensions; all of
        the others."""
        import numpy as np

        parts = [*region, *[slice(None)] * (len(self.shape) - len(region))]
        spans = [
            part.indices(length)[:2] if isinstance(part, slice) else (part, part + 1)
            for part, length in zip(parts, self.shape, strict=True)
        ]
        lengths = [max(end - start, 0) for start, end in spans]
        found = np.full(lengths, self._dataset.fillvalue, self.dtype)
        for origin in self._touched(spans):
            into, out_of = [], []
            for (start, end), at, size in zip(spans, origin, self.chunks, strict=True):
                first, last = max(start, at), min(end, at + size)
                into.append(slice(first - start, last - start))
                out_of.append(slice(first - at, last - at))
            found[tuple(into)] = self._chunk(origin)[tuple(out_of)]
        return found[tuple(slice(None) if isinstance(part, slice) else 0 for part in parts)]

    def _touched(self, spans: list[tuple[int, int]]) -> list[tuple[int, ...]]:
        """Where the stored chunks begin that hold some of ``spans``, a range of each dimension."""
        import numpy as np

        (start, end), size = spans[0], self.chunks[0]
        first, last = np.searchsorted(self._origins[:, 0], (start - size + 1, end))
        near = self._origins[first:last]
        starts, ends = np.array(spans).T
        hit = ((near < ends) & (near + self.chunks > starts)).all(axis=1)
        return list(map(tuple, near[hit].tolist()))

    def _chunk(self, origin: tuple[int, ...]) -> Any:
        """The items of the stored chunk at ``origin``, without those beyond the dataset."""
        spans = zip(origin, self.chunks, strict=True)
        return self._dataset[tuple(slice(start, start + size) for start, size in spans)]
