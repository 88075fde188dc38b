"""Whatever a stage's library raises is an error of ours, with the stage and the cause."""

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

import serialpack
from serialpack.codecs import CODECS
from serialpack.codecs.base import Codec
from serialpack.errors import CodecError
from serialpack.filters import FILTERS
from serialpack.filters.base import Filter
from serialpack.stages.stage import Stage

DATA = b"the same text again, " * 500


class PanicException(BaseException):
    """What a panic of Rust's comes as."""


CAUSES = {
    "its own": CodecError("no such luck"),
    "runtime": RuntimeError("no such luck"),
    "system": OSError("no such luck"),
    "without a word": ArithmeticError(),
    "panic": PanicException("no such luck"),
}


@contextmanager
def failing(cls: type[Stage], method: str, cause: BaseException) -> Iterator[str]:
    """In which the library under ``method`` of ``cls`` raises ``cause``; gives it in words."""

    def fail(*_: Any, **__: Any) -> Any:
        raise cause

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cls, method, fail)
        yield str(cause) or type(cause).__name__


def stages() -> Iterator[Any]:
    for registry in (CODECS, FILTERS):
        for entry in registry:
            if entry.name != "none" and registry.cls(entry.name).missing(entry.name) is None:
                yield pytest.param(registry.create(entry.name), id=entry.name)


STAGES = [*stages()]


@pytest.mark.parametrize("cause", CAUSES.values(), ids=CAUSES)
@pytest.mark.parametrize("stage", STAGES)
def test_every_stage(stage: Stage, cause: BaseException) -> None:
    there = "compress" if isinstance(stage, Codec) else "forward"
    with failing(type(stage), f"_{there}", cause) as words:
        with pytest.raises(serialpack.SerialpackError) as caught:
            getattr(stage, there)(DATA)
        assert stage.name in str(caught.value)
        assert words in str(caught.value)
    backward: dict[str, Callable[[], object]]
    if isinstance(stage, Codec):
        stored, size = stage.compress(DATA), len(DATA)
        backward = {
            "_decompress": partial(stage.decompress, stored, size),
            "_decompress_pieces": lambda: list(stage.decompress_pieces(stored, size)),
        }
    else:
        assert isinstance(stage, Filter)
        backward = {"_backward": partial(stage.backward, DATA)}
    for method, call in backward.items():
        with failing(type(stage), method, cause) as words, pytest.raises(CodecError, match=words):
            call()


@pytest.mark.parametrize("method", ["_compress", "_decompress"])
@pytest.mark.parametrize(
    "cause",
    [
        RuntimeError("Allocation error : not enough memory"),
        ImportError("x.so: failed to map segment from shared object"),
    ],
    ids=["zstd", "the loader"],
)
def test_that_there_is_no_memory_is_no_fault_of_the_data(method: str, cause: Exception) -> None:
    """It was: a sound file was damaged, then."""
    stage = CODECS.create("zstd")
    assert isinstance(stage, Codec)
    stored = stage.compress(DATA)
    with failing(type(stage), method, cause), pytest.raises(MemoryError):
        stage.compress(DATA) if method == "_compress" else stage.decompress(stored, len(DATA))


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("kind", [KeyboardInterrupt, MemoryError])
def test_what_is_no_failure_of_the_stage_stays(stage: Stage, kind: type[BaseException]) -> None:
    method = "_compress" if isinstance(stage, Codec) else "_forward"
    with failing(type(stage), method, kind()), pytest.raises(kind):
        getattr(stage, method[1:])(DATA)


#: Every way in that packs, under a filter and a codec.
WRITERS: dict[str, Callable[[], object]] = {
    "pack": lambda: serialpack.pack(
        io.BytesIO(DATA), io.BytesIO(), serializer="raw", filters=["shuffle:4"], codec="zlib"
    ),
    "dump": lambda: serialpack.dump(["text"] * 1000, io.BytesIO(), "json+shuffle:4+zlib"),
    "dumps": lambda: serialpack.dumps(["text"] * 1000, "json+shuffle:4+zlib"),
    "dumps, larger": lambda: serialpack.dumps(["text"] * 10_000, "json+shuffle:4+zlib"),
}


@pytest.mark.parametrize("way", WRITERS)
def test_every_way_in(way: str) -> None:
    """A CodecError of ``compress`` left dumps, dump and pack as it was."""
    for registry, name, method in (CODECS, "zlib", "_compress"), (FILTERS, "shuffle", "_forward"):
        with (
            failing(registry.cls(name), method, CodecError("no such luck")),
            pytest.raises(serialpack.SerialpackError, match=f"{name} .*no such luck"),
        ):
            WRITERS[way]()


def test_a_filter_that_fails_to_read_is_damage() -> None:
    packed = serialpack.dumps(["text"] * 1000, "json+shuffle:4+zlib")
    with (
        failing(FILTERS.cls("shuffle"), "_backward", IndexError("no such luck")),
        pytest.raises(serialpack.DamagedError, match=r"shuffle .*no such luck"),
    ):
        serialpack.loads(packed)
