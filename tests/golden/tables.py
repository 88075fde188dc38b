"""Tables and documents as they are found, of which there are golden files."""

from __future__ import annotations

import base64
import struct
import zlib
from itertools import product
from pathlib import Path
from typing import Any

#: What they are.
WORDS = {
    "utf-16": "CSV in UTF-16 with a byte-order mark",
    "escapes": "CSV in another encoding, with escaped quotes and no header",
    "database": "a database of SQLite's",
    "feed": "ordinary XML",
    "field": "an array of NumPy's",
    "volume": "a NIfTI image",
    "density": "an MRC map",
    "arrays": "arrays of NumPy's in a zip",
}

_TABLES: dict[str, tuple[str, bytes]] = {
    "utf-16": (
        "csv:semicolon+utf-16-le",
        ("\ufeffid;Straße\r\n" + "".join(f'{n};"a ""q""; Łódź"\r\n' for n in range(60))).encode(
            "utf-16-le"
        ),
    ),
    "escapes": (
        "csv:cp1252+escaped+no-header",
        b"".join(b'%d,"a \\"q\\" \\\\ \xe9, %d"\n' % (n, n) for n in range(60)),
    ),
}

#: A database of one table of nine rows, as SQLite wrote it.
_DATABASE = (
    "c-jjN^vNtqRY=P(%1ta$FlJz4U}R))P*7lC05TyM1{i^u1&vP#Ffr&QGxCBIGoE4qqESFIV8X~I&d<*n"
    "S(2EPlUh>3<Q(Mc7~-lB;^^e#s!*b!k(r|4=@;Va?i!?{ke8U7su1ED5uyo-8&1Y)42)kHUoqZeyu^5n"
    "aTnt{#zjD(Q7~YDi<6mAk|Qer@M;AME)F1@9n3c8Vh6I>z-%)vHXxf7%r@m>1+rPdY!faPAe$M?Hs)dm"
    "vYEhaBTgn}PDwD+kdu*_1Hv=_0EehHi2"
)

_OTHERS: dict[str, tuple[str, bytes]] = {
    "database": ("sqlite", zlib.decompress(base64.b85decode(_DATABASE))),
    "feed": (
        "xml",
        b'<?xml version="1.0" encoding="utf-8"?>\n<feed lang="de">'
        + b"".join(b'<entry id="%d">Zo\xc3\xab &amp; %d<b/></entry>' % (n, n) for n in range(9))
        + b"</feed>\n",
    ),
}

#: Two arrays, as NumPy wrote them.
_ARCHIVE = (
    "c-jl_W@gc4fB;1Xy~xL2|Dk}DL4+YuFR!4IkwJi=3#tT0PxcG-4Txl9C}XHrPf0CKE>gErP`Al6QrA&X"
    "Ps=YVDN4+X&o4?z1&O;Q<`ky_#fvi%3sQl64O1OW9fev23IG=a10w?y12Y2)LjZ~g0_UZENA^Gx%mWjk"
    "N+#g-K$-<n9x&8VFrv&0To70Mu!qnr4gubbOuEddG0_DLa8?EcXkY}9;CMmT0`mI=s25SS90Za{5G|~1"
    "AR#6oOasy#VAB9lCu9)"
)

_NUMBERS = b"".join((n * n * 37 % 4096).to_bytes(2, "little") for n in range(24))


def _header(size: int, *parts: tuple[int, bytes]) -> bytes:
    """So many bytes of zero, but for ``parts``: where they stand, and what they are."""
    made = bytearray(size)
    for at, data in parts:
        made[at : at + len(data)] = data
    return bytes(made)


def _npy(said: bytes) -> bytes:
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(said) + 1) + said + b"\n"


_ARRAYS: dict[str, tuple[str, bytes]] = {
    "field": (
        "npy",
        _npy(b"{'descr': '<i2', 'fortran_order': True, 'shape': (4, 6), }") + _NUMBERS,
    ),
    "volume": (
        "nifti",
        _header(
            352,
            (0, struct.pack("<i", 348)),
            (40, struct.pack("<8h", 3, 2, 3, 4, 1, 1, 1, 1)),
            (70, struct.pack("<h", 4)),
            (108, struct.pack("<f", 352)),
            (344, b"n+1\0"),
        )
        + _NUMBERS,
    ),
    "density": (
        "mrc",
        _header(1024, (0, struct.pack("<4i", 4, 3, 2, 1)), (208, b"MAP DD")) + _NUMBERS,
    ),
    "arrays": ("npz", zlib.decompress(base64.b85decode(_ARCHIVE))),
}

#: Name -> format and bytes.
FOUND = {**_TABLES, **_OTHERS, **_ARRAYS}

#: Which of them are packed with which serializer.
PACKED = [
    *product(_TABLES, ("raw", "columns", "msgpack")),
    ("database", "raw"),
    *product(("feed",), ("raw", "json", "msgpack")),
    *product(_ARRAYS, ("raw",)),
]


#: Short members: name, source, options and sentence of each.
SHORT: list[tuple[str, str, dict[str, Any], str]] = [
    ("short-zstd", "ndjson", {"serializer": "raw"}, "a short member in the zstd envelope"),
    ("short-none", "csv", {"serializer": "raw", "codec": "none"}, "one that is not compressed"),
    ("short-xz", "array", {"serializer": "raw", "codec": "xz"}, "one in the own envelope"),
    ("short-columns", "texts", {"serializer": "columns"}, "one of columns"),
    ("short-json", "document", {"serializer": "json"}, "one with a style"),
    ("short-stored", "noise", {"codec": "zstd"}, "one that did not shrink"),
    ("short-empty", "empty", {"codec": "zstd"}, "one of nothing"),
    ("short-meta", "csv", {"meta": {"who": "Zoë"}, "verify": False}, "one with all that there is"),
    ("archive-short", "ndjson,csv,empty", {}, "an archive of short members"),
]

#: The dictionary of the golden files that have one. It was trained by zstd from their records:
#: ``zstandard.train_dictionary(1200, [json.dumps(r).encode() for r in records(400)], k=200, d=8)``.
KINDS = Path(__file__).with_name("kinds.dict")

#: Those that have it, as those of ``SHORT``.
SHARED: tuple[tuple[str, str, dict[str, Any], str], ...] = (
    (
        "dictionary-short",
        "document",
        {"shared_dict": str(KINDS)},
        "packed with a dictionary, kinds.dict",
    ),
    (
        "dictionary-blocks",
        "ndjson",
        {"shared_dict": str(KINDS), "block_size": 2000},
        "the same, of several blocks",
    ),
)
