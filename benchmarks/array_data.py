"""The arrays that benchmarks.arrays keeps: fields and images, and joblib's eight kinds of data.

All but one are made of files of the folder that the user names, by the paths below. joblib's own
example downloads its data; where they are not at hand, what stands in for them is named.
"""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.data import made
from serialpack.bench.samples import parse_sample
from serialpack.formats.arrays.kinds import header_in

FACES = "numeric/npy/lfw_subset.npy"
BRAIN = "imaging/nifti/mni_icbm152_t1_tal_nlin_sym_09a_converted.nii"
GRID = "numeric/raw/era5_ints.bin"
TEXTS = ("corpora/canterbury/alice29.txt", "corpora/canterbury/world192.txt")

Array = np.ndarray[Any, Any]


class Kind(NamedTuple):
    """``about``: what it is; ``make``: it, out of the folder."""

    about: str
    make: Callable[[Path], Array | list[str]]


def _npy(path: str) -> Callable[[Path], Array]:
    return lambda folder: np.load(folder / path)


def _volume(path: str) -> Callable[[Path], Array]:
    """The numbers of a NIfTI image or an MRC map, as they lie in the file."""

    def make(folder: Path) -> Array:
        data = (folder / path).read_bytes()
        data = gzip.decompress(data) if path.endswith(".gz") else data
        header = header_in(data[: 1 << 16])
        assert header is not None
        assert isinstance(header.descr, str)
        order: Any = "F" if header.fortran else "C"
        return np.ndarray(header.shape, header.descr, data, header.size, order=order)

    return make


def _grid(folder: Path) -> Array:
    return np.fromfile(folder / GRID, "<i4").reshape(721, 1440)


def _stent(folder: Path) -> Array:
    with np.load(folder / "numeric/npy/stent.npz") as found:
        volume: Array = found["arr_0"]
    return volume


def _field(edge: int, *, fortran: bool = False) -> Callable[[Path], Array]:
    def make(_: Path) -> Array:
        sample, n = parse_sample(f"field3d:{edge}")
        field: Array = np.load(io.BytesIO(b"".join(sample.chunks(n))))
        return np.asfortranarray(field) if fortran else field

    return make


def _texts(folder: Path) -> list[str]:
    """Paragraphs, four times over in another order, as posts quote each other."""
    posts = [post for path in TEXTS for post in (folder / path).read_text("latin-1").split("\n\n")]
    return [posts[n * step % len(posts)] for step in (1, 7, 11, 13) for n in range(len(posts))]


def _faces(folder: Path) -> Array:
    faces: Array = np.load(folder / FACES).astype("<f4")
    return faces


def _pairs(folder: Path) -> Array:
    faces = _faces(folder)
    drawn = np.random.default_rng(1).integers(0, len(faces), (1000, 2))
    pairs: Array = faces[drawn]
    return pairs


def _olivetti(folder: Path) -> Array:
    """Parts of slices of a head, in 256 shades of grey, as floats from 0 to 1."""
    brain = _volume(BRAIN)(folder)
    shades = np.stack([brain[60:124, y, 60:124] for y in range(20, 220)] * 2)
    return np.ascontiguousarray(shades, "<f4") / np.float32(255)


def _mask(folder: Path) -> Array:
    return np.asarray(_volume(BRAIN)(folder) > 80)


#: Fields and images: float32 and others.
IMAGES: dict[str, Kind] = {
    "field3d": Kind("the built-in sample, a cube of float32 with 128 an edge", _field(128)),
    "field3d, Fortran": Kind("the same in Fortran order", _field(128, fortran=True)),
    "ERA5": Kind("a global grid of the reanalysis, packed to int32", _grid),
    "MNI152": Kind("a template of the human brain (NIfTI, uint8)", _volume(BRAIN)),
    "LFW": Kind("200 parts of photographs, 25 x 25 (float64)", _npy(FACES)),
    "camera": Kind("a restored photograph (float64)", _npy("numeric/npy/camera_rl.npy")),
    "HOG": Kind(
        "histograms of gradients (float64)", _npy("numeric/npy/astronaut_GRAY_hog_L2-Hys.npy")
    ),
    "stent": Kind("a CT volume (int16)", _stent),
    "example4d": Kind("two MR volumes (int16)", _volume("imaging/nifti/example4d.nii.gz")),
    "anatomical": Kind("an MR volume (big-endian int16)", _volume("imaging/nifti/anatomical.nii")),
    "EMD-3197": Kind("an electron density (MRC, float32)", _volume("imaging/mrc/EMD-3197.map")),
}

#: joblib's.
JOBLIB: dict[str, Kind] = {
    "20news": Kind("stand-in: paragraphs of two books, four times over, as a list", _texts),
    "LFW faces": Kind("stand-in: 200 parts of them, 25 x 25, as float32", _faces),
    "LFW pairs": Kind("stand-in: 1,000 pairs drawn from them", _pairs),
    "Olivetti": Kind("stand-in: parts of slices of MNI152, 64 x 64, as float32", _olivetti),
    "big faces": Kind(
        "stand-in: the faces, four times over", lambda folder: np.tile(_faces(folder), (4, 1, 1))
    ),
    "NIfTI": Kind("the volume MNI152, uint8", _volume(BRAIN)),
    "MNI mask": Kind("where MNI152 is brighter than 80, booleans", _mask),
    "species": Kind("stand-in: the grid of ERA5 as float32", lambda f: _grid(f).astype("<f4")),
}

KINDS = {**IMAGES, **JOBLIB}


def kept(name: str, folder: Path) -> Path:
    """The file of the data ``name`` in the cache; OSError where what it is made of is absent."""
    data = KINDS[name].make(folder)
    stem = f"arrays-{name.replace(', ', '-').replace(' ', '-')}"
    if isinstance(data, list):
        text = json.dumps(data).encode()
        return made(f"{stem}.json", lambda out: out.write(text), anew=True)
    return made(f"{stem}.npy", lambda out: np.save(out, data), anew=True)
