"""Objects out of containers, and of files that are one object: ``load``, ``loads``."""

from collections.abc import Mapping
from functools import partial
from typing import IO, TYPE_CHECKING, Any, cast

from serialpack.api import check_threads, opened_source
from serialpack.checked import check_arguments, checked
from serialpack.collector import FEW, gc_paused
from serialpack.container.small import START_SMALL
from serialpack.errors import DamagedError, SerialpackError
from serialpack.files.source import UNNAMED, File, Path, Source
from serialpack.formats.python.buffers import Scattered, ScatteredFile, flat_bytes
from serialpack.objects.files import inside, restored, values_of_file
from serialpack.pipeline.plan import SETTINGS, Plan
from serialpack.pipeline.small import unpack_small
from serialpack.serializers.base import FAILURES
from serialpack.serializers.cached import kept_reader
from serialpack.serializers.one_object import ObjectHook, deserialized, hooked
from serialpack.stages.stage import Buffer
from serialpack.text import error_words, in_message

if TYPE_CHECKING:
    from typing_extensions import Buffer as AnyBuffer

_START = len(START_SMALL)


@checked
def load(
    source: Path | File,
    *,
    trust: bool = False,
    object_hook: ObjectHook | None = None,
    options: Mapping[str, Any] | None = None,
    threads: int | None = None,
    mmap_mode: str | None = None,
    scaled: bool | None = None,
    shared_dict: Path | None = None,
) -> Any:
    """The object that ``dump`` packed into ``source``, a path or a binary file object; of an
    ``.npy`` file or volume (NIfTI, MRC) the array, of an ``.npz`` file
    its arrays by name, and of a file that is one document (JSON, YAML, TOML, a message, with
    ``trust`` a pickle) its value, as ``open`` has it: packed or not, and compressed or not
    (``scan.nii.gz``). What Python does not hold as it is in a document, is refused.

    ``trust`` also loads what pickle and marshal wrote, which can run any code that the file's
    writer put into it. ``object_hook`` is called with every map, innermost first, and what it
    returns stands in its place. ``options`` override what the container says to its serializer
    (``schema``: another version of it).
    ``mmap_mode``: of a file the large arrays are not loaded. Under the codec none, and in a file of
    one that is not packed, each is mapped, a ``numpy.memmap`` in this mode: ``"r"``, or ``"c"``,
    which keeps in memory what is written to it. It is not verified: ``serialpack unpack --test``
    does that. Under ``"r"`` each other one, and the array of a packed file of one, is a
    ``LazyArray``, which reads the blocks that a slice of it touches. All else is loaded as ever.
    ``scaled``: of a volume whose header says a slope and an intercept (``scl_slope``), its numbers
    are loaded as they are stored, which a ScaleWarning tells; with False without a warning, and
    with True they are doubles (``slope * x + intercept``), those of nibabel's ``get_fdata()``.
    ``shared_dict``: the dictionary that it was packed with, as for ``unpack``.

    A file object is left behind the object, where the next one of ``dump`` or ``dumps`` may stand.

    Raises RefusedError without ``trust``, FileError (a FileNotFoundError too), DamagedError,
    NotContainerError (an EOFError too where there is nothing left), UsageError (a ValueError) for
    another ``mmap_mode``, for ``scaled`` beside one, and another packed file, UnsupportedError
    where it needs a class whose module is not imported.

    >>> import serialpack
    >>> serialpack.dump([1, 2.5], "list.spk")
    >>> with open("list.spk", "rb") as file:
    ...     serialpack.load(file)
    [1, 2.5]
    """
    check_threads(threads)
    if shared_dict is not None:
        from serialpack.dictionaries import know

        know(shared_dict)
    if mmap_mode is not None:
        from serialpack.objects.lazy import load_lazily

        found = load_lazily(source, mmap_mode, trust=trust, scaled=scaled)
        if found:
            return hooked(found[0], object_hook)
    with opened_source(source) as opened:
        opened = inside(opened)
        document = partial(_document, trust=trust)
        if found := values_of_file(opened, document, trust=trust, threads=threads, scaled=scaled):
            return hooked(found[0], object_hook)
        plan, pieces = restored(opened, trust=trust, threads=threads)
        obj = _deserialized(plan, pieces, options)
    return hooked(obj, object_hook)


def _deserialized(plan: Plan, pieces: list[Buffer], options: Mapping[str, Any] | None) -> Any:
    serializer = kept_reader(plan.chain.serializer, plan.style.get(SETTINGS), options)
    try:
        if len(pieces) == 1 and len(pieces[0]) < FEW:
            return deserialized(serializer, pieces)
        with gc_paused():
            return deserialized(serializer, pieces)
    except FAILURES as error:
        words = in_message(error_words(error))  # some show a table, which has several lines
        raise DamagedError(f"{serializer.name} cannot read it ({words})") from None


def _document(source: Source, format: str | None = None, *, trust: bool) -> Any:
    from serialpack.records.document import document_in

    return document_in(source, format, trust=trust)


def loads(
    data: "AnyBuffer",
    *,
    trust: bool = False,
    object_hook: ObjectHook | None = None,
    options: Mapping[str, Any] | None = None,
    threads: int | None = None,
    scaled: bool | None = None,
    shared_dict: Path | None = None,
) -> Any:
    """The object that ``dumps`` packed, out of ``data``: bytes, or a buffer of any items and
    strides. Arguments and errors are those of ``load``; TypeError for what is no buffer.

    >>> import serialpack
    >>> data = serialpack.dumps(frozenset({1}), "pickle")
    >>> serialpack.loads(data, trust=True)
    frozenset({1})
    """
    if object_hook is not None or (trust is not False and trust is not True):
        check_arguments(loads, {"trust": trust, "object_hook": object_hook})
    flat = data if isinstance(data, bytes) else flat_bytes(data)
    if flat[:_START] == START_SMALL:  # a message: no file is made of it
        try:
            plan, content = unpack_small(flat, trust=trust)
            obj = _deserialized(plan, [content], options)
        except SerialpackError as error:
            error.path = error.path or UNNAMED
            raise
        return obj if object_hook is None else hooked(obj, object_hook)
    file = cast("IO[bytes]", ScatteredFile(Scattered([memoryview(flat).toreadonly()])))
    return load(
        file,
        trust=trust,
        object_hook=object_hook,
        options=options,
        threads=threads,
        scaled=scaled,
        shared_dict=shared_dict,
    )
