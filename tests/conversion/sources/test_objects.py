"""Containers of objects that need no pickle become files of other formats."""

from __future__ import annotations

import io
import json
import pickle
from array import array
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import serialpack
from serialpack.conversion.tables.shaping import Shaping
from serialpack.errors import (
    InputError,
    RefusedError,
    SerialpackError,
    UnsupportedError,
    ValueRefusedError,
)
from tests.fidelity import things
from tests.serializers.objects.test_own_objects import made_of

WEIGHTS = np.asfortranarray(np.arange(6, dtype=">f4").reshape(2, 3))
MODEL = {"weights": WEIGHTS, "scale": np.float32(0.5), "names": ("a", "bc"), "kind": "x"}


def converted(obj: Any, to: str, at: str | None = None, **how: Any) -> tuple[bytes, dict[str, int]]:
    """What becomes of an object, and what was carried."""
    out = io.BytesIO()
    packed = io.BytesIO(serialpack.dumps(obj, "objects"))
    report = serialpack.convert(packed, out, to=to, shaping=Shaping(at=at), threads=1, **how)
    return out.getvalue(), {loss.rule: loss.count for loss in report.carried}


@pytest.mark.parametrize(
    ("obj", "wanted", "carried"),
    [
        (np.arange(3), [0, 1, 2], {}),
        (np.zeros(1, [("a", "i4"), ("b", "S1", 2)]), [{"a": 0, "b": ["", ""]}], {"bytes": 2}),
        ({"a": (1, {"b": np.ones((1, 2), "f4")})}, {"a": [1, {"b": [[1.0, 1.0]]}]}, None),
        ([{"d": date(2020, 1, 2)}], [{"d": "2020-01-02"}], {"timestamps": 1}),
    ],
)
def test_values(obj: Any, wanted: Any, carried: dict[str, int] | None) -> None:
    data, told = converted(obj, "json")
    assert json.loads(data) == wanted
    assert told == ({"sequences": 1, "arrays": 1} if carried is None else carried)


def test_arrays_keep_their_types() -> None:
    """Those beside them become some; a tuple is told, and refused with strict."""
    data, told = converted(MODEL, "npz")
    assert told == {"sequences": 1}
    with np.load(io.BytesIO(data)) as found:
        assert (found["weights"].dtype, found["weights"].tolist()) == (">f4", WEIGHTS.tolist())
        assert (found["scale"].dtype, found["scale"].shape) == ("f4", ())
        assert (found["names"].tolist(), found["kind"].item()) == (["a", "bc"], "x")
    for at, obj in (("weights", MODEL), ("m.w", {"m": {"w": WEIGHTS}}), (None, WEIGHTS)):
        again = np.load(io.BytesIO(converted(obj, "npy", at)[0]))
        assert (again.dtype, again.tobytes()) == (WEIGHTS.dtype, WEIGHTS.tobytes())
        assert again.flags.f_contiguous
    with pytest.raises(SerialpackError, match=r"\$\.names is no array, and npz has only these"):
        converted(MODEL, "npz", strict=True)


def test_as_a_pickle_it_is_the_object() -> None:
    again = pickle.loads(converted(MODEL, "pickle")[0])
    assert (again["names"], again["weights"].dtype) == (("a", "bc"), ">f4")


@pytest.mark.parametrize(
    ("to", "at", "obj", "message"),
    [
        ("npz", None, {"a": np.ones(2), "b": None}, r"\$\.b is no array.*at=\"NAME\""),
        ("npy", None, {"a": np.ones(2), "b": np.ones(2)}, "2 arrays: a, b; .*takes one"),
        ("csv", "x", {"a": [1]}, "has no 'x'"),
        ("json", None, np.array([1], "m8"), "times without a unit"),
    ],
)
def test_what_has_no_place_is_one_line(to: str, at: str | None, obj: Any, message: str) -> None:
    with pytest.raises(SerialpackError, match=message) as caught:
        converted(obj, to, at)
    assert "\n" not in str(caught.value)


def test_a_class_that_is_not_here_is_named() -> None:
    import msgpack

    message = msgpack.ExtType(16, msgpack.packb(["gone", "Class", {}]))
    with pytest.raises(UnsupportedError, match=r"gone\.Class, which is not here; .*\.load reads"):
        serialpack.convert(io.BytesIO(made_of(message)), io.BytesIO(), to="json")


def test_frames_are_tables() -> None:
    """With an index that says something; NaN stays, and is no null."""
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"a": [1.5, np.nan]}, index=pandas.Index([3, 4], name="id"))
    data, _ = converted(frame, "csv")
    assert data == b"id,a\n3,1.5\n4,NaN\n"
    data, told = converted({"x": pandas.Series([1, 2], name=0)}, "ndjson", "x")
    assert (data, told) == (b'{"0":1}\n{"0":2}\n', {"keys": 1})
    _, told = converted(pandas.DataFrame([[1, 2]]), "json")
    assert told == {"keys": 2}


def test_columns_of_pandas_and_frames_of_polars_are_tables() -> None:
    """Sparse ones ended in an internal error."""
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    sparse = pandas.DataFrame({"s": pandas.arrays.SparseArray([0, 1])})
    for frame in (sparse, polars.DataFrame({"s": [0, 1]}), polars.Series("s", [0, 1])):
        assert converted(frame, "csv")[0] == b"s\n0\n1\n"


def pickled(obj: Any, to: str, **how: Any) -> str:
    out = io.BytesIO()
    data = io.BytesIO(obj if type(obj) is bytes else pickle.dumps(obj))
    serialpack.convert(data, out, to=to, format="pickle", trust=True, threads=1, **how)
    return out.getvalue().decode()


def test_pickles_of_arrays_and_frames_are_what_they_hold() -> None:
    """They were refused, and NaT by itself became the text "NaT"."""
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    assert json.loads(pickled({"w": np.arange(2), "s": np.float32(0.5)}, "json")) == {
        "w": [0, 1],
        "s": 0.5,
    }
    times = [np.datetime64("NaT"), np.timedelta64("NaT", "s"), pandas.NaT, pandas.NA]
    assert json.loads(pickled(times, "json")) == [None] * 4
    assert json.loads(pickled([pandas.Timestamp(0, tz="UTC"), pandas.Timedelta(5)], "json")) == [
        "1970-01-01T00:00:00+00:00",
        "PT0.000000005S",
    ]
    assert pickled(pandas.DataFrame({"a": [1, 2]}), "csv") == "a\n1\n2\n"
    assert '"$' in pickled([np.arange(2)], "json", tagged=True)
    several = pickle.dumps([np.bool_(True)]) + pickle.dumps([1])
    assert pickled(several, "ndjson") == "[true]\n[1]\n"
    with pytest.raises(InputError, match="not valid pickle"):
        pickled(several[:-9], "json")


OBJECTS = np.array([None, (1, np.float32(0.5)), {"a": np.arange(2)}], object)


@pytest.mark.parametrize("kind", ["npy", "npz", "spk", "pipe"])
def test_arrays_of_objects_are_read_on_trust(kind: str, tmp_path: Path) -> None:
    """They were refused, whoever trusted them."""
    path, alone = tmp_path / "a.npy", kind == "npy"
    if alone:
        np.save(path, OBJECTS, allow_pickle=True)
    else:
        np.savez(path := tmp_path / "a.npz", o=OBJECTS, n=np.arange(2))
    if kind == "spk":
        serialpack.pack(path, path := tmp_path / "a.spk")
    source: Any = io.BytesIO(path.read_bytes()) if kind == "pipe" else path
    format = "npz" if kind == "pipe" else None
    with pytest.raises(RefusedError, match=r"items are Python objects.*trust=True\) converts it"):
        serialpack.convert(source, io.BytesIO(), to="json", format=format)
    if kind == "pipe":
        source.seek(0)
    out = io.BytesIO()
    report = serialpack.convert(source, out, to="json", format=format, trust=True)
    values = [None, [1, 0.5], {"a": [0, 1]}]
    assert json.loads(out.getvalue()) == (values if alone else {"o": values, "n": [0, 1]})
    # With the array of objects itself, but for that which is the whole file.
    assert {loss.rule: loss.count for loss in report.carried} == {
        "sequences": 1,
        "arrays": 3 if alone else 4,
    }


def test_what_is_masked_is_null() -> None:
    """Its mask was lost, and what is behind it stood there."""
    masked = np.ma.array([1.0, 2.0], mask=[False, True])
    source, out = io.BytesIO(), io.BytesIO()
    np.save(source, np.array([masked, None, np.ma.masked], object), allow_pickle=True)
    source.seek(0)
    serialpack.convert(source, out, to="json", format="npy", trust=True)
    assert json.loads(out.getvalue()) == [[1.0, None], None, None]


def test_objects_that_cannot_be_loaded_are_one_line() -> None:
    out = io.BytesIO()
    np.save(out, np.array([things.Slotted(2)], object), allow_pickle=True)
    data = out.getvalue().replace(b"Slotted", b"Slitted")
    with pytest.raises(InputError, match=r"objects cannot be loaded: .*Slitted") as caught:
        serialpack.convert(io.BytesIO(data), io.BytesIO(), to="json", format="npy", trust=True)
    assert "\n" not in str(caught.value)


INSIDE = [
    (np.arange(2), [0, 1]),
    (np.float32(0.5), 0.5),
    (np.zeros(1, [("a", "i4")]), [{"a": 0}]),
    (np.array([1, None], object), [1, None]),
    (np.ma.array([1, 2], mask=[False, True]), [1, None]),
    (np.datetime64("NaT"), None),
    (array("i", [1, 2]), [1, 2]),
    ({np.int64(1): 2}, {"1": 2}),
    ({np.int8(1)}, [1]),
]


@pytest.mark.parametrize(("inside", "wanted"), INSIDE, ids=repr)
def test_what_is_no_plain_value_inside_is_told(inside: Any, wanted: Any) -> None:
    """It became a list, a number or null, and nobody was told; with strict neither."""
    check_told({"n": np.zeros(0), "v": [inside]}, wanted)


def test_so_is_what_pandas_has() -> None:
    """A name, labels and columns are kept: they are records, and were lists."""
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"q": [1, 2]})
    for inside, wanted in (
        (pandas.NaT, None),
        (pandas.NA, None),
        (pandas.Timestamp(0), "1970-01-01T00:00:00"),
        (pandas.array([1, None], "Int64"), [1, None]),
        (pandas.Index([1, 2]), [1, 2]),
        (pandas.Index([1, 2], name="q"), [{"q": 1}, {"q": 2}]),
        (pandas.Series([1, 2]), [1, 2]),
        (frame["q"], [{"q": 1}, {"q": 2}]),
        (
            frame.set_index(pandas.Index(["a", "b"], name="k")),
            [{"k": "a", "q": 1}, {"k": "b", "q": 2}],
        ),
    ):
        check_told({"n": np.zeros(0), "v": [inside]}, wanted)


def check_told(obj: Any, wanted: Any) -> None:
    data, out = pickle.dumps(obj), io.BytesIO()
    how: dict[str, Any] = {"format": "pickle", "to": "json", "trust": True}
    report = serialpack.convert(io.BytesIO(data), out, **how)
    assert json.loads(out.getvalue()) == {"n": [], "v": [wanted]}
    first = next(loss for loss in report.carried if loss.rule == "arrays")
    assert (first.value_path, first.record) == ("$.n", 0)
    assert first.count >= 2
    with pytest.raises(ValueRefusedError, match=r"\$\.n: json holds it only in another shape"):
        serialpack.convert(io.BytesIO(data), io.BytesIO(), **how, strict=True)


def test_tags_say_what_an_array_was() -> None:
    """Also of one that was dumped, which was a list by then; by itself, too."""
    for obj in (MODEL, WEIGHTS):
        tagged, again = converted(obj, "json", tagged=True)[0], io.BytesIO()
        serialpack.convert(io.BytesIO(tagged), again, format="json", to="pickle", tagged=True)
        assert pickle.dumps(obj) == pickle.dumps(pickle.loads(again.getvalue()))


def test_what_a_table_has_not_of_a_frame_is_told() -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"a": pandas.Series(["x", np.nan], dtype=object)})
    frame.attrs["unit"], frame.columns.name = "m", "c"
    data, told = converted(frame, "csv")
    assert (data, told) == (b"a\nx\nnull\n", {"attributes": 2, "arrays": 1, "null": 1})
    with pytest.raises(
        ValueRefusedError, match=r"no place for attributes, links and the like: attrs\['unit'\]"
    ):
        converted(frame, "csv", strict=True)


class WithUnit(np.ndarray):
    """As other libraries have them."""


def test_a_subclass_that_has_more_is_refused() -> None:
    """One with a unit was a list of numbers."""
    unit = np.arange(2).view(WithUnit)
    with pytest.raises(ValueRefusedError, match="an object of a class"):
        pickled({"v": unit}, "json")


@pytest.mark.parametrize("value", ["rows", "table", "one", "masked", "record"])
def test_fields_keep_their_names(value: str) -> None:
    """Of a structured array with objects, and of one with a mask, they went unsaid: its items
    became lists."""
    numpy: Any = np  # whose stubs have fewer ways to make an array
    kind = [("i", "<i4"), ("o", "O"), ("n", [("p", "<i2"), ("q", "O")])]
    rows = numpy.array([(1, "a", (2, [None])), (3, {"x": 1}, (4, "z"))], kind)
    first, second = (
        {"i": 1, "o": "a", "n": {"p": 2, "q": [None]}},
        {"i": 3, "o": {"x": 1}, "n": {"p": 4, "q": "z"}},
    )
    masked = numpy.ma.array([(1, 2.0)], [("a", "<i4"), ("b", "<f8")], mask=[(True, False)])
    obj, wanted = {
        "rows": (rows, [first, second]),
        "table": (rows.reshape(2, 1), [[first], [second]]),
        "one": (rows[1], second),
        "masked": ([masked], [[{"a": None, "b": 2.0}]]),
        "record": ([numpy.rec.array([(1, "x")], names="a,b")[0]], [{"a": 1, "b": "x"}]),
    }[value]
    out = io.BytesIO()
    data = io.BytesIO(pickle.dumps(obj))
    serialpack.convert(data, out, to="json", format="pickle", trust=True)
    assert json.loads(out.getvalue()) == wanted


@pytest.mark.timeout(60)
@pytest.mark.parametrize("target", ["json", "xml", "toml"])
def test_a_map_in_itself_is_refused_and_not_written_for_ever(target: str, tmp_path: Path) -> None:
    """XML, which was tried for the hint, wrote it until there was no memory."""
    value: dict[str, Any] = {}
    value["self"] = value
    serialpack.dump(value, tmp_path / "a.spk", "pickle")
    with pytest.raises(serialpack.ValueRefusedError, match="holds itself"):
        serialpack.convert(tmp_path / "a.spk", tmp_path / f"a.{target}", trust=True)
    assert not (tmp_path / f"a.{target}").exists()


def test_fields_in_another_order_than_they_lie_in(tmp_path: Path) -> None:
    """NumPy has no words for such a type in an .npy file."""
    table = np.array([(1, 2.5, 3), (4, 5.5, 6)], [("a", "i4"), ("b", "f8"), ("c", "i2")])
    serialpack.dump(table[["c", "a"]], tmp_path / "a.spk", "pickle")
    serialpack.convert(tmp_path / "a.spk", tmp_path / "a.json", trust=True)
    assert json.loads((tmp_path / "a.json").read_bytes()) == [{"c": 3, "a": 1}, {"c": 6, "a": 4}]
    serialpack.convert(tmp_path / "a.spk", tmp_path / "a.npy", trust=True)
    assert np.load(tmp_path / "a.npy").tolist() == [(3, 1), (6, 4)]


def test_columns_that_only_polars_has_are_refused(tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"x": polars.Series([1], dtype=polars.Int128)})
    serialpack.dump(frame, tmp_path / "a.spk", "pickle")
    with pytest.raises(serialpack.RefusedError, match="no such columns of polars"):
        serialpack.convert(tmp_path / "a.spk", tmp_path / "a.json", trust=True)
