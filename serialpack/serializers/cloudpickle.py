"""cloudpickle: pickles by value of what pickle refuses: lambdas, classes of a running program."""

from __future__ import annotations

from typing import Any

from serialpack.formats.pickle import PROTOCOL, dump_pickle
from serialpack.serializers.pickle import Pickle


class CloudPickle(Pickle):
    """Pickles of protocol 5, and cloudpickle's own of the records that pickle refuses."""

    library = "cloudpickle"
    distribution = "cloudpickle"
    extra = "cloudpickle"
    params = ()
    about = "Python pickles, by value where pickle refuses; unpacked with --trust only"

    def dump(self, records: list[Any]) -> bytes:
        return b"".join([_dump_one(record) for record in records])


def _dump_one(record: Any) -> bytes:
    try:
        return dump_pickle(record, PROTOCOL)
    except (ValueError, TypeError):
        import cloudpickle

    try:
        return bytes(cloudpickle.dumps(record, PROTOCOL))
    except (ValueError, TypeError, RecursionError, MemoryError):
        raise
    except Exception as error:
        raise ValueError(f"{type(error).__name__}: {error}") from None
