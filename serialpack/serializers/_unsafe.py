"""Serializers whose bytes are undone on trust only: loading them can run code, or crash."""

from __future__ import annotations

from serialpack.serializers.base import RecordSerializer


class UnsafeSerializer(RecordSerializer):
    """One whose bytes are loaded on trust only."""

    portable = False
    safe = False
