"""parquet: Parquet tables, by pyarrow. Each block is a file of its own."""

from __future__ import annotations

from serialpack.serializers._tables import Table


class Parquet(Table):
    """Apache Parquet, neither compressed nor by dictionary: that is for the codec to do."""

    stored_format = "parquet"
    about = "Parquet tables, by pyarrow"
