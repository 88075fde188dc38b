"""What the tests of shapes share."""

from __future__ import annotations

from serialpack.columns.parse.shape import Split, join, split
from serialpack.columns.stored import structure
from serialpack.columns.stored.structure import Column


def there_and_back(data: bytes, kind: str = "json") -> Split | None:
    """Split, and look whether it comes back; through the structure's bytes too."""
    found = split(data, kind)
    if found is None:
        return None
    assert join(*found) == data
    stored = structure.write(found.shape, 3)
    again = structure.read(stored, len(data))
    assert again.nodes == found.shape.nodes
    assert again.outline == found.shape.outline
    assert again.numbers == [column.number for column in found.columns]
    assert join(again, found.columns) == data
    return found


def columns_of(found: Split | None) -> dict[Column, list[bytes]]:
    assert found is not None
    return {
        column: texts.to_list()
        for column, texts in zip(found.shape.columns, found.columns, strict=True)
    }
