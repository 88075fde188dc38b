"""Sequences over few letters, uniformly drawn: nothing but their entropy can be saved."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import log2
from typing import Any

from serialpack.bench.results import Entropy
from serialpack.bench.samples._draw import Draw
from serialpack.bench.samples.base import Sample, SampleTable, ndjson

#: Letters a record; the last one has what is left.
_RECORD = 1000

_NUCLEOTIDES = "ACGT"
#: The proteinogenic amino acids of the standard genetic code, by their IUPAC letters.
_AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"


def _letters(alphabet: str, n: int) -> str:
    """``n`` letters: each from a byte, but for the bytes that would favour the first letters."""
    draw, used = Draw(), 256 - 256 % len(alphabet)
    table = bytes(ord(alphabet[byte % len(alphabet)]) for byte in range(256))
    excess = bytes(range(used, 256))
    text = b""
    while len(text) < n:
        # Some more than will do, as a rule.
        wanted = (n - len(text)) * 256 // used
        wanted += wanted // 100 + 64
        text += b"".join(piece.translate(table, excess) for piece in draw.bytes(wanted))
    return text[:n].decode("ascii")


def _records(alphabet: str, n: int) -> Iterator[dict[str, Any]]:
    text = _letters(alphabet, n)
    for number, at in enumerate(range(0, n, _RECORD)):
        yield {"id": number, "sequence": text[at : at + _RECORD]}


def _value(alphabet: str, n: int) -> list[dict[str, Any]]:
    return list(_records(alphabet, n))


def _chunks(alphabet: str, n: int) -> Iterator[bytes]:
    return ndjson(_records(alphabet, n))


def _limit(alphabet: str, n: int) -> Entropy:
    bits = log2(len(alphabet))
    return Entropy(n * bits / 8, f"{bits:.3g} bits a letter: log2 of {len(alphabet)}")


def _sample(name: str, alphabet: str, what: str) -> Sample:
    return Sample(
        name=name,
        about=f"records of {_RECORD} letters each, drawn from {len(alphabet)} {what}",
        default=1_000_000,
        unit="letters",
        mode="file",
        format="ndjson",
        make_value=partial(_value, alphabet),
        chunks=partial(_chunks, alphabet),
        limit=partial(_limit, alphabet),
        table=SampleTable(serializers=("raw", "columns"), codecs=()),
    )


DNA = _sample("dna", _NUCLEOTIDES, "nucleotides")
PROTEIN = _sample("protein", _AMINO_ACIDS, "amino acids")
