"""Every extension type of man/spk.5 is read as a value, and told to people."""

import re
from pathlib import Path

import pytest

from serialpack.serializers.objects._extension_table import EXTENSIONS, extension
from serialpack.serializers.objects.arrays import ARRAY, SAME, SAME_OBJECT
from serialpack.serializers.objects.columns import OBJECTS_OF
from serialpack.serializers.objects.of_arrow import ARROW
from serialpack.serializers.objects.of_pandas import SAME_INDEX

PAGE = Path(__file__).parents[3] / "man/spk.5"


def specified() -> set[int]:
    """The extension types that the page says."""
    page = PAGE.read_text(encoding="utf-8")
    (table,) = re.findall(r"^type\|value\|elements$.*?^\.TE$", page, re.DOTALL | re.MULTILINE)
    rows = re.findall(r"^([0-9, ]+)\|", table, re.MULTILINE)
    return {int(code) for row in rows for code in row.split(",")}


def test_the_table_and_the_page_have_the_same_types() -> None:
    assert EXTENSIONS.keys() == specified()
    with pytest.raises(ValueError, match="there is no extension 64"):
        extension(64)


def test_each_is_both_made_and_told() -> None:
    """But for those of which only the reader of a message knows what they stand for."""
    by_readers = {OBJECTS_OF, ARRAY, ARROW, SAME, SAME_OBJECT, SAME_INDEX}
    for code, found in EXTENSIONS.items():
        made = found.made is not None or found.of_class is not None
        assert made == (found.told is not None) == (code not in by_readers), code
        assert found.again is None or found.again in by_readers
