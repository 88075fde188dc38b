"""parquet: Parquet tables, by pyarrow. Each block is a file of its own."""

from __future__ import annotations

from serialpack.serializers._tables import TableSerializer


class ParquetSerializer(TableSerializer):
    """Apache Parquet, neither compressed nor by dictionary: that is for the codec to do."""

    stored_format = "parquet"
    about = "Parquet tables, by pyarrow"
