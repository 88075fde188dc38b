"""arrow: Arrow tables, by pyarrow. Each block is a file of its own."""

from __future__ import annotations

from serialpack.serializers._tables import Table


class Arrow(Table):
    """Apache Arrow's IPC files."""

    stored_format = "arrow"
    about = "Arrow tables (IPC files), by pyarrow"
