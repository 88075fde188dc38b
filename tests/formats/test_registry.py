"""The registry of formats finds them by name, number and extension."""

from __future__ import annotations

import pytest

from serialpack.columns.stored.structure import KINDS
from serialpack.errors import UsageError
from serialpack.formats import FORMATS, Declaration
from serialpack.formats.base import ValueFormat


@pytest.mark.parametrize("entry", list(FORMATS), ids=lambda entry: entry.name)
def test_an_entry_and_its_class_agree(entry) -> None:  # type: ignore[no-untyped-def]
    fmt = FORMATS.get(entry.name)
    assert (fmt.name, fmt.number) == (entry.name, entry.number)
    # What has variants, says in a container which of them it is.
    assert FORMATS.by_number(entry.number) == entry or entry.variants
    assert fmt.about
    assert fmt.has_values == isinstance(fmt, ValueFormat)
    assert all(FORMATS.by_extension("A" + x.upper()) == entry for x in entry.extensions)


@pytest.mark.parametrize("entry", list(FORMATS), ids=lambda entry: entry.name)
def test_a_declaration_names_what_there_is(entry: Declaration) -> None:
    assert {entry.dialect_of, entry.version_of} - {""} <= set(FORMATS.names())
    assert not entry.columns or entry.columns in KINDS
    assert not entry.columns or KINDS[entry.columns] == entry.delimiter
    assert entry.one_schema or not entry.typed_columns


def test_what_is_not_there() -> None:
    assert FORMATS.by_number(99) is None
    assert FORMATS.by_extension("README") is None
    assert FORMATS.by_extension("a.xyz") is None
    with pytest.raises(UsageError, match="ndjson"):
        FORMATS.declaration("ndjsn")
