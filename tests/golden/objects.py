"""What more golden files of dumped objects hold, as their serializer writes it."""

from __future__ import annotations

import math
import struct
import zlib
from base64 import b85decode
from typing import Any

from msgpack import ExtType, packb

from tests.golden.buffers import framed
from tests.golden.words import PANDAS, PIECES


def _array(descr: str, shape: list[int]) -> ExtType:
    return ExtType(18, packb([None, repr(descr), shape, False, True]))


#: Numbers that are packed as differences, beside bytes that are not.
_ROWS = b"".join(n.to_bytes(8, "little") for n in range(1 << 17))
_BYTES = bytearray(n * n // 7 % 251 for n in range(70_000))

#: A table of Arrow, frames and a series of pandas: see ``frames``.
_FRAMES = (
    "c-rlk&1(}u6u@UDNgG3uAhG07A?zhRNNKeck%9pQ5j^UtmauKMxU$)V&8AHnLUS`W+eWeAK?Map>9IFsRosgQZ{GCJ"
    "5HI@P>?FHRvL^MQQ1W2&cHWz>H}l&!llu;Rlid424}OBYAcQ0cN{qzG1c{I+yn)a#lnIog@EaDtgfMur;{6M>hl&ww"
    "pAt6S6rM6Khq*05lF)vFO!6KRVm!)FPfP7gK4u)ANj@f;v%-(_bwDRYIZmd;jN`m#5(@Kq%#p6dpd9D3$CwNeD<hsn"
    "eD73fF|L@W8=GHJz42X{5jy0n!+hgVpN$L{kCJ|&zW%E3UiRWg{fQnpk!z>h?T*9l!cMX#dR|j+Cr?T{>FqG-twxr*"
    "D^EovQL$1OeM<OFfUYaLnb)ehwW3iem}TW+dU@q+T5*dx?$abIFV+=PEoktjY^X*Bs(^c4*Nl9w-(FJ9yjsrLwGwv}"
    "SMO+RHag5op;YVH%eIBaf@Z6E)mFh|Rt%$o1FN=e>8ll+Po>_#saTq77cDF*hQ4a4Rt@_o)l|zWZel+hnpM_|CR)!e"
    "&d$xwD-CZhKIi$_dGx`0Ou*y%-E~U_)18#*#<p(6-j{*<wm$;V=>Vdy4<I^3f+ZzsCK1O1+Q|fC{J#;&nw`B)n=rcf"
    "@yw|Q@5Pt%{gTkz&ofKw7c#r-@X%rR5ZTrk+2f7u%wHlaC*dxt=>f@-4oI?eNRq7*8Qqo>x#}j<Z6vcgCi8fcnHoYS"
    "9Wj|EBrTIkha^+AkHl&RDSU_&?x6MC5h=X&2MQO2FY|vW1jIC32iUgyN$mO-7nUpK6$#3^g08Ki$*bPHaan2nGe(a<"
    "Xe=Re)F48m{AwK)IgRl;NESrHcfU0PwTS>~mj>ihHUhPQM}GFl+vp>>7C-s?bsDrs=g!kByYA^OUkBiH*Sn|ttEu+0"
    "&D)ykUI!fZ7-`-g(>$hmlpH*a=Agf5LvI6Js$FS%RPX-+ARm*B"
)


def _of_numpy() -> list[ExtType]:
    """Objects in fields, polynomials, objects whose type has metadata."""
    empty = ExtType(37, packb([[None, "x"], [2], False, True]))
    numbers = ExtType(18, packb([struct.pack("<2d", 1, 2.5), "'<f8'", [2], False, True]))
    text = ExtType(40, packb(["str"]))
    return [
        ExtType(42, packb(["fields", ["o", "n"], [empty, numbers], [2], False, True])),
        ExtType(42, packb(["polynomial", "Legendre", numbers, "x", None, numbers])),
        ExtType(42, packb(["polynomial", "poly1d", numbers, "z"])),
        ExtType(37, packb([["a"], [1], False, True, {"vlen": text}])),
    ]


def _more() -> list[ExtType]:
    """What came after those of 44, and what those before it have come to hold."""
    byte, single = (ExtType(42, packb(["dtype", repr(kind)])) for kind in ("|u1", "<f4"))
    fields = repr([("a", "|u1"), ("b", "|i1")])
    records = ExtType(18, packb([b"\1\xfe", fields, [1], False, True]))
    characters = ExtType(18, packb([b"abc\0", "'|S2'", [2], False, True]))
    return [
        ExtType(39, packb([{"a": 1}, "argparse"])),
        ExtType(45, packb(["a+", 34])),
        ExtType(46, packb([{"a": 1}, {}])),
        ExtType(28, packb(["Counter", {}])),
        ExtType(42, packb(["iinfo", byte])),
        ExtType(42, packb(["finfo", single])),
        ExtType(42, packb(["record type", ExtType(42, packb(["dtype", fields]))])),
        ExtType(42, packb(["records", records])),
        ExtType(34, packb(["chararray", characters])),
    ]


def _noted() -> list[ExtType]:
    """Arrays whose type, or that of a field, has words of its own, and such a type."""
    text = {"type": "|S2", "metadata": {"h5py_encoding": "ascii"}}
    fields = {"names": ["n", "s"], "formats": ["|u1", text], "offsets": [0, 1], "itemsize": 3}
    colours = {"type": "|i1", "metadata": {"enum": {"RED": 0, "BLUE": -1}, "": (None, 1.5, b"a")}}
    return [
        ExtType(18, packb([b"ab\0c", repr(text), [2], False, True])),
        ExtType(18, packb([b"\1ab\2c\0", repr(fields), [2], False, False])),
        ExtType(42, packb(["dtype", repr(colours)])),
    ]


def _derived() -> list[ExtType]:
    """Objects of classes derived from a map, text and a number; the first with attributes."""
    module = "tests.fidelity.things"
    return [
        ExtType(49, packb([module, "Keyed", "dict", {"a": [1]}, {"note": "b"}])),
        ExtType(49, packb([module, "Text", "str", "é", None])),
        ExtType(49, packb([module, "Number", "int", 3, None])),
    ]


def _attributed() -> list[ExtType]:
    """Objects with attributes alone, one of them twice, and exceptions."""
    module, about = "tests.fidelity.things", (None, None, False)
    cause = ExtType(52, packb(["builtins", "KeyError", ["x"], {"__notes__": ["a"]}, *about, {}]))
    again = ExtType(36, packb([2]))
    fields = {"errno": 2, "strerror": "No", "filename": "a"}
    inside = ExtType(52, packb(["builtins", "ValueError", [], None, *about, {}]))
    group = ["c", ExtType(2, packb([ExtType(36, packb([5]))]))]
    return [
        ExtType(51, packb([module, "Plain", {"a": 1, "b": [2]}])),
        ExtType(36, packb([0])),
        ExtType(51, packb([module, "Slotted", {"value": 1}])),
        ExtType(52, packb(["builtins", "RuntimeError", ["b"], None, cause, again, True, {}])),
        ExtType(52, packb(["builtins", "FileNotFoundError", [2, "No"], None, *about, fields])),
        ExtType(52, packb(["builtins", "ExceptionGroup", ["c", [inside]], None, *about, group])),
    ]


def _together() -> bytes:
    """Lists of numbers, moments, rows and named tuples by columns, scalars and a map, as many of
    them are written."""
    buffers: list[bytes] = []

    def array(kind: str, items: bytes, shape: list[int]) -> ExtType:
        buffers.append(items)
        return ExtType(18, packb([None, repr(kind), shape, False, True]))

    def listed(kind: str, items: bytes, shape: list[int], *more: Any) -> ExtType:
        return ExtType(55, packb([array(kind, items, shape), *more]))

    def first() -> ExtType:
        return listed("|u1", b"\1\2\3", [3])

    def rows() -> ExtType:
        return ExtType(56, packb([None, first(), words]))

    words = ["x", "y", "z"]
    three = struct.pack("<3q", 1_700_000_000_000_001, -1, 0)
    zone = ExtType(38, packb([3600, 0]))
    parts = [
        listed("<u2", struct.pack("<3H", 1, 300, 2), [3]),
        listed("<f8", struct.pack("<4d", 1, 2.5, -0.0, float("inf")), [2, 2]),
        listed("<i2", struct.pack("<3h", -1, 300, 2), [3], None, [1, 4], [None, "x"]),
        listed("<M8[us]", three, [3], zone),
        listed("<M8[us]", three, [3]),
        listed("<M8[D]", struct.pack("<3q", -719_162, 1, 2), [3]),
        listed("<m8[us]", three, [3]),
        ExtType(56, packb([["a", "é"], first(), ["x", None, ""]])),
        ExtType(56, packb(["tuple", first(), words])),
        ExtType(56, packb([None, words, first()])),
        ExtType(56, packb(["lists", listed("|u1", b"\2\0\1", [3]), first()])),
        ExtType(57, packb([first(), words])),
        ExtType(58, packb([29, "tests.fidelity.things", "Pair", rows()])),
        ExtType(59, packb([array("<f4", struct.pack("<3f", 1, 2.5, -1), [3])])),
    ]
    return framed(packb(ExtType(2, packb(parts))), buffers)


def _alike() -> bytes:
    """Lists of members of an enum, of complex numbers, of addresses and of paths, as many of them
    are written."""

    def array(kind: str, items: int) -> ExtType:
        return ExtType(18, packb([None, repr(kind), [items], False, True]))

    red = ExtType(15, packb(["tests.fidelity.things", "Colour", "RED"]))
    floats = ExtType(55, packb([array("<f8", 3)]))
    parts = [
        ExtType(60, packb([array("|u1", 4), [red, None]])),
        ExtType(61, packb([6, floats, floats])),
        ExtType(61, packb([41, "IPv4Address", ["127.0.0.1", "0.0.0.0", "127.0.0.1"]])),
        ExtType(61, packb([14, "PurePosixPath", ["a/b", "/é", "."]])),
    ]
    halves = [struct.pack("<3d", 1, -0.0, math.inf), struct.pack("<3d", 2.5, 0, -1)]
    return framed(packb(ExtType(2, packb(parts))), [b"\0\1\0\0", *halves])


def _several() -> bytes:
    """Lists of paths with one that is missing, and of objects with attributes alone, one of which
    stands elsewhere, too, as many of them are written."""

    def array(kind: str, items: int) -> ExtType:
        return ExtType(18, packb([None, repr(kind), [items], False, True]))

    paths = ExtType(61, packb([14, "PurePosixPath", ["a/b", "/é", "."]]))
    numbers = ExtType(55, packb([array("|u1", 3)]))
    columns = ExtType(56, packb([["a", "b"], numbers, ["x", "y", ""]]))
    objects = [51, "tests.fidelity.things", "Plain", ExtType(56, packb([None, columns]))]
    parts = [
        ExtType(62, packb([array("|u1", 4), paths, [None]])),
        ExtType(58, packb(objects)),
        ExtType(36, packb([1])),
    ]
    return framed(packb(ExtType(2, packb(parts))), [b"\0\1\0\0", b"\1\2\3"])


def _parted() -> bytes:
    """Maps of several sets of names, and objects with attributes alone, one of which stands twice
    among them, as many of them are written."""

    def numbers(items: int) -> ExtType:
        array = ExtType(18, packb([None, "'|u1'", [items], False, True]))
        return array if items > 3 else ExtType(55, packb([array]))

    parts = [
        ExtType(56, packb([["a", "b"], numbers(3), ["x", "y", ""]])),
        ExtType(56, packb([["a"], numbers(3)])),
        [{}],
    ]
    columns = ExtType(56, packb([["a"], numbers(3)]))
    objects = [51, "tests.fidelity.things", "Plain", ExtType(56, packb([None, columns]))]
    again = [numbers(4), ExtType(58, packb(objects)), [ExtType(36, packb([0]))]]
    both = [ExtType(62, packb([numbers(7), *parts])), ExtType(62, packb(again))]
    lists = [b"\0\1\0\1\0\1\2", b"\1\2\3", b"\2\3\4", b"\0\0\1\0", b"\7\x08\x09"]
    return framed(packb(ExtType(2, packb(both))), lists)


def _stacked() -> bytes:
    """Arrays of one shape, one of which stands elsewhere, too, as many of them are written."""
    array = ExtType(18, packb([None, "'<i2'", [3, 2], False, True]))
    both = [ExtType(63, packb([array])), ExtType(35, packb([2]))]
    return framed(packb(ExtType(2, packb(both))), [struct.pack("<6h", 1, -2, 3, 4, 500, 6)])


def _labelled() -> list[ExtType]:
    """A data set of xarray with an index, and with a label without one; one of its arrays."""

    def of_xarray(*parts: Any) -> ExtType:
        return ExtType(50, packb([*parts]))

    places = ExtType(18, packb([struct.pack("<2q", 1, 4), "'<i8'", [2], False, False]))
    floats = ExtType(18, packb([struct.pack("<2d", 1, 2.5), "'<f8'", [2], False, True]))
    text = ExtType(18, packb(["a".encode("utf-32-le"), "'<U1'", [], False, True]))
    index = ExtType(30, packb(["index", "x", places, None]))
    kind = ExtType(42, packb(["dtype", "'<i8'"]))
    x = of_xarray("IndexVariable", ["x"], [index, kind], None, None)
    t = of_xarray("Variable", ["x"], floats, {"unit": "K"}, {"dtype": "i2"})
    name = of_xarray("Variable", [], text, None, None)
    indexes = [["x", ExtType(43, packb([0])), "x", ExtType(36, packb([0]))]]
    variables = [["x", "t", "name"], [x, t, name], ["x", "name"], ["x"]]
    whole = of_xarray("Dataset", *variables, indexes, {"a": [1]}, None)
    same_x, same_t = ExtType(36, packb([1])), ExtType(36, packb([2]))
    labels = [["x"], [same_x], indexes]
    return [whole, of_xarray("DataArray", "t", same_t, *labels)]


def _sparse() -> list[ExtType]:
    """One of each format of SciPy, of 7 and 8 beside the diagonal; the first again."""

    def array(values: bytes, kind: str, *shape: int) -> ExtType:
        return ExtType(18, packb([values, repr(kind), list(shape or [2]), False, True]))

    def lists(*rows: list[int]) -> ExtType:
        return ExtType(37, packb([rows, [2], False, True]))

    numbers, kind = b"\7\0\x08\0", ExtType(42, packb(["dtype", "'<i2'"]))
    items, columns = array(numbers, "<i2"), array(b"\1\0\0\0\0\0\0\0", "<i4")
    rows = array(bytes([0, 0, 0, 0, 1, 0, 0, 0]), "<i4")
    starts = array(bytes([0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]), "<i4", 3)
    blocks, one = array(b"\0\0\7\0\x08\0\0\0", "<i2", 1, 2, 2), array(bytes(4), "<i4", 1)
    whole = array(bytes([0, 0, 0, 0, 1, 0, 0, 0]), "<i4")
    diagonals = array(b"\x08\0\0\0\0\0\7\0", "<i2", 2, 2)
    beside = array(b"\xff\xff\xff\xff\1\0\0\0", "<i4")
    each: list[list[Any]] = [
        ["csr_matrix", items, columns, starts, True, None],
        ["csc_matrix", array(b"\x08\0\7\0", "<i2"), columns, starts, None, None],
        ["coo_matrix", items, False, rows, columns],
        ["bsr_matrix", blocks, one, whole, None, None],
        ["dia_matrix", diagonals, beside],
        ["dok_matrix", kind, items, [0, 1], columns],
        ["lil_matrix", ExtType(36, packb([5])), lists([1], [0]), lists([7], [8])],
    ]
    found = [ExtType(44, packb([name, [2, 2], 50, *parts])) for name, *parts in each]
    return [*found, ExtType(36, packb([0]))]


def serialized() -> dict[str, bytes]:
    """Name of the source -> its bytes."""
    held: dict[str, Any] = {"rows": _array("<i8", [1024, 128]), "bytes": _array("|u1", [70_000])}
    ranges = [ExtType(23, packb([5, 1, -2])), ExtType(24, packb([None, 3, None]))]
    collections = [
        ExtType(25, packb([{"b": 1, "a": 2}])),
        ExtType(26, packb([3, 1, 2])),
        ExtType(27, packb([{"x": 2}])),
        ExtType(28, packb(["list", {"k": [1]}])),
        ExtType(28, packb([None, {}])),
    ]
    items = ExtType(18, packb([bytes(range(6)), "'|u1'", [2, 3], True, True]))
    mask = ExtType(18, packb([bytes([0, 1, 0, 0, 0, 1]), "'|b1'", [2, 3], True, True]))
    fill = ExtType(18, packb([b"\xff", "'|u1'", [], False, True]))
    masked = [
        ExtType(33, packb([items, mask, fill, True])),
        ExtType(33, packb([items, None, None, False])),
    ]
    fields = repr([("a", "|u1"), ("b", "|i1")])
    records = ExtType(18, packb([bytes(range(6)), fields, [3], False, True]))
    turned = {"names": ["b", "a"], "formats": ["<u4", "|u1"], "offsets": [4, 0], "itemsize": 8}
    inner = {"names": ["x"], "formats": [(turned, (2,))], "offsets": [4], "itemsize": 20}
    aligned = {**turned, "titles": ["The second", None], "aligned": True}
    fielded = [
        [bytes(range(16)), repr(turned), [2], False, True],
        [bytes(range(20)), repr({**inner, "aligned": True}), [], False, True],
        [bytes(range(8)), repr(aligned), [1], False, False],
    ]
    shown = [["matrix", items], ["recarray", records]]
    same = ExtType(35, packb([1])), ExtType(2, packb([ExtType(35, packb([0]))]))
    again = [
        masked[0],
        ExtType(34, packb(["matrix", items])),
        *(ExtType(36, packb([n])) for n in (1, 0)),
    ]
    of_objects = [
        [["a", None, [1, 2], items, "b", 2.5], [2, 3], True, True],
        [[], [0, 2], False, True],
        [["c"], [], False, False],
    ]
    strings = ["strings", ["a", None, "é", ""], [2, 2], True, False, False, None]
    months = ExtType(
        30, packb(["period", "M", ExtType(18, packb([b"", "'<i8'", [0], False, True]))])
    )
    four = ExtType(18, packb([bytes(range(32)), "'<u8'", [4], False, True]))
    state = {"bit_generator": "SFC64", "state": {"state": four}, "has_uint32": 0, "uinteger": 0}
    seeded = [state, ExtType(42, packb(["random", "SeedSequence", 5, 7, 4, 0]))]
    types = [
        *(ExtType(38, packb(each)) for each in (["UTC"], [3600, 0], [3600, 5, "here"])),
        ExtType(39, packb([{"a": 1}])),
        *(ExtType(40, packb([name])) for name in ("Ellipsis", "NotImplemented", "int")),
        ExtType(41, packb(["IPv4Network", "10.0.0.0/8"])),
        *(ExtType(42, packb(each)) for each in (["dtype", "'|O'"], ["dtype", "'<f8'", [2]])),
        *(ExtType(42, packb(each)) for each in (["class", "float32"], ["masked"], strings)),
        ExtType(42, packb(["record", ExtType(18, packb([b"ab", fields, [], False, True]))])),
        ExtType(36, packb([3])),
        ExtType(9, packb([bytes(range(16)), 0])),
        ExtType(12, packb(["2020-01-01T00:00:00", 0, 3600, 0, "here"])),
        *(ExtType(30, packb(each)) for each in (["dtype", months], ["offset", "ME"])),
        ExtType(
            42, packb(["random", "Generator", ExtType(42, packb(["random", "SFC64", *seeded]))])
        ),
        *(ExtType(30, packb(["range", None, 0, 3, 1])), ExtType(43, packb([3]))),
    ]
    return {
        "object-masked": packb(masked),
        "object-shown": packb([ExtType(34, packb(each)) for each in shown]),
        "object-again": packb(again),
        "object-array": packb([ExtType(37, packb(each)) for each in of_objects]),
        "object-fields": packb([ExtType(18, packb(each)) for each in fielded]),
        "object-same": framed(packb([*held.values(), items, *same]), [bytearray(_ROWS), _BYTES]),
        "object-collections": packb(collections),
        "object-ranges": packb(ranges),
        "object-pandas": PANDAS,
        "object-pieces": PIECES,
        "object-types": packb(types),
        "object-sparse": packb(_sparse()),
        "object-numpy": packb(_of_numpy()),
        "object-more": packb(_more()),
        "object-rows": packb(
            {
                "rows": ExtType(
                    48, packb([3, *(each for n in range(250) for each in (n, f"{n}", [n]))])
                )
            }
        ),
        "object-together": _together(),
        "object-alike": _alike(),
        "object-several": _several(),
        "object-parted": _parted(),
        "object-stacked": _stacked(),
        "object-derived": packb(_derived()),
        "object-noted": packb(_noted()),
        "object-attributed": packb(_attributed()),
        "object-labelled": packb(_labelled()),
        "object-frames": zlib.decompress(b85decode(_FRAMES)),
        "object-parts": framed(packb({**held, "name": "é"}), [bytearray(_ROWS), _BYTES]),
    }


#: Each with the chain that it is dumped with.
DUMPED = {
    "object-masked": "objects+none",
    "object-shown": "objects+none",
    "object-same": "objects",
    "object-fields": "objects+none",
    "object-again": "objects+none",
    "object-array": "objects+none",
    "object-collections": "objects+none",
    "object-ranges": "objects+none",
    "object-types": "objects+none",
    "object-sparse": "objects+none",
    "object-numpy": "objects+none",
    "object-more": "objects+none",
    "object-rows": "objects+none",
    "object-together": "objects+none",
    "object-alike": "objects+none",
    "object-several": "objects+none",
    "object-parted": "objects+none",
    "object-stacked": "objects+none",
    "object-derived": "objects+none",
    "object-noted": "objects+none",
    "object-attributed": "objects+none",
    "object-labelled": "objects+none",
    "object-pandas": "objects+zstd:3",
    "object-pieces": "objects+zstd:3",
    "object-frames": "objects+zstd:3",
    "object-parts": "objects",
}
