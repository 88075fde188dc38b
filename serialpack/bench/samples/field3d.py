"""A cube of float32 as simulations write it: smooth, with noise, in C or Fortran order.

All is computed with integers and scaled by a power of two, so that no rounding and no function of
a platform's mathematical library can make a difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from serialpack.bench.results import Entropy
from serialpack.bench.samples._draw import Draw
from serialpack.bench.samples.base import Sample, SampleTable

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

#: Values from one node of the coarse grid to the next.
_STEP = 16
#: Bits of a node, and of the noise on each value. A float32 holds whole numbers of 24 bits.
_NODE_BITS = 22
_NOISE_BITS = 8
#: Values are in -32 to 32.
_SCALE = 2.0**-16


def _weights() -> npt.NDArray[np.int32]:
    """Of three neighbouring nodes, in 1 / (2 * _STEP**2): the uniform quadratic B-spline."""
    import numpy as np

    j = np.arange(_STEP, dtype=np.int32)
    return np.stack([(_STEP - j) ** 2, _STEP**2 + 2 * _STEP * j - 2 * j**2, j**2])


def _between(nodes: npt.NDArray[np.int32], n: int) -> npt.NDArray[np.int32]:
    """``n`` values along the last axis, between its nodes."""
    import numpy as np

    at = np.arange(n)
    sums = np.zeros((*nodes.shape[:-1], n), np.int32)
    for k, weight in enumerate(_weights()):
        sums += weight[at % _STEP] * nodes[..., at // _STEP + k]
    # Of 22 + 9 bits: they fit.
    return sums // (2 * _STEP**2)


def _planes(n: int) -> Iterator[npt.NDArray[np.float32]]:
    """The cube's planes, of shape (n, n), along its first axis."""
    import numpy as np

    draw = Draw()
    size = (n - 1) // _STEP + 3
    drawn = np.frombuffer(b"".join(draw.bytes(4 * size**3)), "<u4") >> (32 - _NODE_BITS)
    nodes = drawn.astype(np.int32).reshape(size, size, size) - (1 << (_NODE_BITS - 1))
    # The first axis last: its planes are made one by one.
    sheets = _between(_between(nodes, n).swapaxes(1, 2), n).swapaxes(1, 2)
    weights = _weights()
    for i in range(n):
        smooth = np.tensordot(weights[:, i % _STEP], sheets[i // _STEP : i // _STEP + 3], 1)
        noise = np.frombuffer(b"".join(draw.bytes(n * n)), np.uint8).reshape(n, n)
        whole = smooth // (2 * _STEP**2) + noise - (1 << (_NOISE_BITS - 1))
        yield (whole.astype(np.float32) * np.float32(_SCALE)).astype("<f4", copy=False)


def _value(n: int, *, fortran: bool) -> npt.NDArray[np.float32]:
    """The cube, of shape (n, n, n)."""
    import numpy as np

    cube = np.empty((n, n, n), "<f4", order="F" if fortran else "C")
    for i, plane in enumerate(_planes(n)):
        cube[i] = plane
    return cube


def _header(n: int, *, fortran: bool) -> bytes:
    """The header of a .npy file of version 1.0; NumPy may pad one of its own otherwise."""
    words = {"descr": "<f4", "fortran_order": fortran, "shape": (n, n, n)}
    text = repr(words).encode()
    text += b" " * (-(10 + len(text) + 1) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


def _chunks(n: int, *, fortran: bool) -> Iterator[bytes]:
    yield _header(n, fortran=fortran)
    if fortran:
        yield from (sheet.tobytes() for sheet in _value(n, fortran=True).T)
    else:
        yield from (plane.tobytes() for plane in _planes(n))


def _limit(n: int) -> Entropy:
    return Entropy(n**3 * _NOISE_BITS / 8, f"{_NOISE_BITS} bits of noise a value")


def _sample(name: str, order: str, *, fortran: bool) -> Sample:
    call: dict[str, Any] = {"fortran": fortran}
    return Sample(
        name=name,
        about=f"a cube of float32, smooth with noise, in {order} order (.npy)",
        default=256,
        unit="values an edge",
        mode="file",
        format="bytes",
        make_value=partial(_value, **call),
        chunks=partial(_chunks, **call),
        limit=_limit,
        table=SampleTable(
            serializers=("raw",),
            filters=("", "shuffle:4", "bitshuffle:4", "delta:4", "delta:4+shuffle:4"),
            codecs=(),
        ),
    )


SAMPLE = _sample("field3d", "C", fortran=False)
FORTRAN = _sample("field3d-fortran", "Fortran", fortran=True)
