"""Tables, by pyarrow: what parquet and arrow have in common."""

from __future__ import annotations

from typing import Any, cast

from serialpack.formats.tables import records as tables
from serialpack.formats.tables.table import TableFormat
from serialpack.serializers._wholefiles import WholeFiles
from serialpack.serializers.of_format import FormatSerializer
from serialpack.values.kinds import BEYOND_JSON


class TableSerializer(WholeFiles, FormatSerializer):
    """Records that are maps with the same keys, whose values are of one type in each column.

    A key that is absent, integers beside floats and the like are refused: all rows of a table are
    alike. Null may stand everywhere.
    """

    library = "pyarrow"
    distribution = "pyarrow"
    extra = "arrow"
    cannot = (BEYOND_JSON | {"bare", "mixed", "bigint", "surrogates"}) - {
        *("non-finite", "nan-bits", "bytes", "decimal", "uuid"),
        *("utc-datetime", "local-datetime", "date", "time", "timedelta"),
    }
    # Decimals with a fixed point are held; the other kinds where they have one type, not too deep.
    partly = frozenset({"decimal", "array", "nested", "boolean", "integral-float", "bytes"})
    tabular = True
    compiled = True

    def fit(self, records: list[Any]) -> None:
        tables.columns_of(records, cast(TableFormat, self.format).levels)
