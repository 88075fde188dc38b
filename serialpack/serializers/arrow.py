"""arrow: Arrow tables, by pyarrow. Each block is a file of its own."""

from __future__ import annotations

from serialpack.serializers._tables import TableSerializer


class ArrowSerializer(TableSerializer):
    """Apache Arrow's IPC files."""

    stored_format = "arrow"
    about = "Arrow tables (IPC files), by pyarrow"
