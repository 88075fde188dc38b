"""Serializers whose bytes are loaded with ``--trust`` only: that can run code, or crash."""

from __future__ import annotations

from typing import Any

from serialpack.depth.values import check_graph, check_values
from serialpack.serializers.base import RecordSerializer


class UnsafeSerializer(RecordSerializer):
    """A serializer whose bytes are loaded with ``--trust`` only."""

    portable = False
    safe = False

    def check_values(self, records: list[Any]) -> None:
        check = check_graph if self.identity else check_values
        check(records)
