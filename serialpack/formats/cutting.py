"""Who cuts the large records of a format, and who writes them (``pieces.parts``)."""

from __future__ import annotations

from serialpack.formats.base import Format, Style
from serialpack.formats.pieces.parts import Cutter, RecordText


def cutter_of(fmt: Format, style: Style) -> Cutter | None:
    """What cuts large records of a source in a style; None where nothing does."""
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
    """What writes a large record in the style of a source; None where nothing does.

    ValueError where the style is none.
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
