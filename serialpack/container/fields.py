"""Values that were read from a container, checked: each function raises where one is malformed."""

from typing import Any

from serialpack.errors import DamagedError
from serialpack.stages.stage import ChainNumbers


def typed_value(values: dict[str, Any], key: str, kind: type, default: Any, start: int) -> Any:
    """What a header says under ``key``; DamagedError where that is not of ``kind``."""
    value = values.get(key, default)
    if value is not default and type(value) is not kind:
        raise DamagedError(f"the header's {key!r} is malformed", start=start)
    return value


def count_of(value: Any) -> int:
    """``value``, which must be an integer of 0 or more; ValueError otherwise."""
    if type(value) is not int or value < 0:
        raise ValueError(f"{value!r} is not a count")
    return value


def bytes_of(value: Any) -> bytes:
    """``value``, which must be a byte string; TypeError otherwise."""
    if not isinstance(value, bytes):
        raise TypeError("not a byte string")
    return value


def decode_chain(value: Any, start: int) -> ChainNumbers:
    """The chain that is stored as ``value``: a list with a number for each stage, or a list of its
    number and parameters. DamagedError for anything else."""
    stages = [s if isinstance(s, list) else [s] for s in value] if isinstance(value, list) else []
    if stages and all(s and all(type(n) is int for n in s) and s[0] >= 0 for s in stages):
        return tuple(tuple(s) for s in stages)
    raise DamagedError("a chain is malformed", start=start)
