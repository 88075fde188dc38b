"""Serializers whose blocks are whole files, under types that all of their records share."""

from __future__ import annotations

from typing import Any

from serialpack.formats.shared.column_types import Mixed, Odd
from serialpack.serializers.base import FAILURES, RecordSerializer
from serialpack.values.kinds import ROOT, Difference, Path, path_text, shown


class WholeFiles(RecordSerializer):
    """A serializer that may hold each of some records, but not all of them in one file."""

    def blame(self, records: list[Any], error: Exception) -> Difference:
        """The first record that is not held together with those before it."""
        # ``high`` doubles until the first so many are not held: so all these trials together cost
        # about what the records up to the first bad one do.
        low, high = 0, 1
        failure = self.failure if self._unfit(records) is None else self._unfit
        while failure(records[:high]) is None:
            if high >= len(records):
                return super().blame(records, error)
            low, high = high, 2 * high
        high = min(high, len(records))
        while high - low > 1:  # the first ``low`` are held, the first ``high`` are not
            middle = (low + high) // 2
            if failure(records[:middle]) is None:
                low = middle
            else:
                high = middle
        alone = records[low:high]
        found = self.failure(alone)
        if found is not None:
            return self.blame_one(alone[0], found)._replace(record=low)
        together = failure(records[:high])
        return Difference(low, "$", "as those before it", "", "mixed", str(together))

    def _unfit(self, records: list[Any]) -> Exception | None:
        """As ``failure``, but only what ``fit`` raises."""
        try:
            if records:
                self.fit(records)
        except FAILURES as error:
            return error
        return None

    def blame_one(self, record: Any, error: Exception) -> Difference:
        """Which part of a record is not held."""
        if isinstance(error, Mixed):
            return Difference(0, "$", shown(record), "", "mixed", str(error))
        from serialpack.values.kind_of import lost_value

        if isinstance(error, Odd) and error.value is not record:
            path = _path_to(record, error.value, is_key=error.is_key)
            return lost_value(path, error.value, is_key=error.is_key)
        return super().blame_one(record, error)


def _path_to(record: Any, part: Any, *, is_key: bool) -> str:
    """The path of ``part``, this very object, in a record; of a key the path of its map."""
    stack: list[tuple[Path, Any]] = [(ROOT, record)]
    while stack:
        path, value = stack.pop()
        if isinstance(value, dict):
            if is_key and any(key is part for key in value):
                return path_text(path)
            stack += reversed([((path, key), inner) for key, inner in value.items()])
        elif isinstance(value, list):
            stack += reversed([((path, i), inner) for i, inner in enumerate(value)])
        if value is part and not is_key:
            return path_text(path)
    return "$"
