"""cloudpickle: pickles by value of what pickle refuses: lambdas, classes of a running program."""

from __future__ import annotations

from typing import Any

from serialpack.depth.values import check_graph
from serialpack.formats.python.pickle import PROTOCOL, dump_beside, dump_pickle
from serialpack.serializers.pickle import PickleSerializer
from serialpack.stages.stage import Buffer


class CloudPickleSerializer(PickleSerializer):
    """Pickles of protocol 5, and cloudpickle's own of the records that pickle refuses."""

    library = "cloudpickle"
    distribution = "cloudpickle"
    extra = "cloudpickle"
    params = ()
    about = "Python pickles, by value where pickle refuses; unpacked with --trust only"

    def _dump(self, records: list[Any]) -> bytes:
        return b"".join([_dump_one(record) for record in records])

    def dump_object(self, records: list[Any]) -> list[Buffer]:
        check_graph(records)
        (obj,) = records
        try:
            return [dump_beside(obj)]
        except (ValueError, TypeError):
            import cloudpickle

        return [dump_beside(obj, cloudpickle.dumps)]


def _dump_one(record: Any) -> bytes:
    try:
        return dump_pickle(record, PROTOCOL)
    except (ValueError, TypeError):
        import cloudpickle

    return dump_pickle(record, PROTOCOL, cloudpickle.dumps)
