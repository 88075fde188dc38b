"""Chooses what cuts the large records of a format into parts, and what writes them again.

What a part is, ``pieces.parts`` says. JSON, CSV and formats of messages can be cut; of any other
format a record is read as a whole.
"""

from __future__ import annotations

from serialpack.formats.base import Format, Style
from serialpack.formats.pieces.parts import Cutter, RecordText


def cutter_of(fmt: Format, style: Style) -> Cutter | None:
    """The cutter for large records of a source in ``fmt``, whose text is written in ``style``;
    None where the format has none."""
    if fmt.declared.is_json_text or fmt.declared.is_json:
        from serialpack.formats.json.parts import JsonCutter
        from serialpack.formats.json.text import JsonText

        return JsonCutter(fmt) if isinstance(fmt, JsonText) else None
    if fmt.declared.delimiter:
        from serialpack.formats.csv.parts import CsvCutter
        from serialpack.formats.csv.text import CsvText

        return CsvCutter(fmt, style) if isinstance(fmt, CsvText) else None
    from serialpack.formats.messages.format import MessageFormat
    from serialpack.formats.messages.parts import MessageCutter

    return MessageCutter(fmt) if isinstance(fmt, MessageFormat) else None


def record_text_of(fmt: Format, style: Style) -> RecordText | None:
    """The writer of large records in format ``fmt``, in the style of the source; None where the
    format has none. ValueError where ``style`` is not a style of the format.
    """
    if fmt.declared.is_json_text or fmt.declared.is_json:
        from serialpack.formats.json.parts import JsonRecordText
        from serialpack.formats.json.text import JsonText

        return JsonRecordText(fmt, style) if isinstance(fmt, JsonText) else None
    if fmt.declared.delimiter:
        from serialpack.formats.csv.parts import CsvRecordText
        from serialpack.formats.csv.text import CsvText

        return CsvRecordText(fmt, style) if isinstance(fmt, CsvText) else None
    from serialpack.formats.messages.format import MessageFormat
    from serialpack.formats.messages.parts import MessageText

    return MessageText(fmt, style) if isinstance(fmt, MessageFormat) else None
