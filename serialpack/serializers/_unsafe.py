"""Serializers whose bytes are undone on trust only: loading them can run code, or crash."""

from __future__ import annotations

from serialpack.formats.base import Format, SourceBlock
from serialpack.formats.python.untrusted import UnsafeFormat
from serialpack.serializers.base import ValueSerializer


class UnsafeSerializer(ValueSerializer):
    """Keeps a source of its own format after a look at its bytes, loading nothing."""

    portable = False
    safe = False

    def check(self, block: SourceBlock, fmt: Format) -> int | None:
        return fmt.count(block) if isinstance(fmt, UnsafeFormat) else super().check(block, fmt)
