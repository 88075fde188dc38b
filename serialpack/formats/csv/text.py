"""What CSV and TSV are as value formats: records are maps from the header's names to text.

The header is the first line of the first block, and every later block has to know it.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from serialpack.csv_front import before_header
from serialpack.errors import SyntaxInputError
from serialpack.formats.base import (
    Difference,
    SourceBlock,
    Style,
    StyleTypes,
    Unheld,
    ValueFormat,
    too_large,
)
from serialpack.formats.csv.style import TableStyle, detect_style, style_of, table_style, write_rows
from serialpack.formats.csv.tokens import (
    BEHIND_QUOTE,
    LONE_RETURN,
    TWO_RETURNS,
    UNCLOSED,
    fields_of_row,
    first_width,
    rows_of,
)
from serialpack.formats.csv.uneven import (
    MOST_BEYOND,
    are_odd,
    lines_above,
    names_beyond,
    ragged,
    told_of,
)
from serialpack.formats.losses.marks import renamed
from serialpack.formats.losses.utf8 import ENCODING_HINT, ESCAPED, NO_UTF8, said
from serialpack.formats.shared.document import Malformed, compared
from serialpack.formats.shared.lines import LINE_ENDS
from serialpack.literal import is_number
from serialpack.stages.stage import Buffer
from serialpack.text import unique_names
from serialpack.values.kinds import (
    BLANK_LINES,
    DUPLICATES,
    LONG_ROWS,
    RENAMED,
    UTF8,
    Loss,
    shown,
    value_step,
)

_HINTS = {
    NO_UTF8: ENCODING_HINT,
    LONE_RETURN: r"tr '\r' '\n' <FILE >NEW.csv makes lines of it, where these are its line ends",
    TWO_RETURNS: r"tr -d '\r' <FILE >NEW.csv takes them out",
}

#: Of tables between tabs many have no quotes but in their text.
_QUOTES = (UNCLOSED, BEHIND_QUOTE)
_PLAIN_TABS = (
    r"""sed 's/\r$//; s/"/""/g; s/[^\t]*/"&"/g' <FILE >NEW.tsv quotes all fields,"""
    " where quotes are text in them"
)

#: The longest header, in bytes, that the style keeps as it stands.
_MAX_HEAD = 16 << 10

#: So many bytes tell how a table is written.
_MAX_LOOK = 64 << 10


class CsvText(ValueFormat):
    """The value side of CSV. Every field is text.

    The context of all blocks but the first, in which it stands, is the header; of a table without
    one that of all blocks is a line of names that stands nowhere.
    """

    style_types: ClassVar[StyleTypes] = {
        **dict.fromkeys("het", (str,)),
        "q": (int, list),
    }
    heeds = frozenset({DUPLICATES, UTF8})

    takes_literals = True
    #: What messages call it.
    title: ClassVar[str]

    def _headed(self, blocks: Iterator[SourceBlock]) -> Iterator[SourceBlock]:
        head: bytes | None = None
        for block in blocks:
            if head is None:
                head = self._head(bytes(block.data))
            yield block._replace(context=head) if self._needs_head(block) else block

    def in_source(
        self,
        block: SourceBlock,
        style: Style,  # noqa: ARG002
        first: Callable[[], Buffer],
    ) -> SourceBlock:
        if not self._needs_head(block):
            return block
        return block._replace(context=self._head(bytes(first())))

    def _needs_head(self, block: SourceBlock) -> bool:
        return block.index > 0 or self.declared.headless

    def header_of(self, block: SourceBlock) -> bytes:
        """The header of a block's source."""
        return block.context or self._head(bytes(block.data))

    def style_of_table(self, block: SourceBlock) -> tuple[TableStyle, list[str]]:
        """How a source is written, by its first block, and its columns."""
        data = bytes(block.data[:_MAX_LOOK])
        text = data[before_header(data) :].decode("utf-8", "replace")
        whole, headless = len(data) == len(block.data), self.declared.headless
        style = table_style(text, self._mark, headless=headless, whole=whole)
        names = unique_names(self._names(self.header_of(block)))
        return style._replace(marked=data.startswith(BOM_UTF8)), names

    def count_columns(self, block: SourceBlock, few: int) -> int:
        """How many columns a block's source has, told from its header before that is names; an
        upper bound where they are no more than ``few``."""
        head = self.header_of(block)
        most = head.count(self.declared.delimiter, before_header(head)) + 1
        if most <= few or b'"' not in head:
            return most
        return first_width(_below(head, "replace"), self._mark)

    def _head(self, data: bytes) -> bytes:
        """The header of a source that begins with ``data``."""
        if not self.declared.headless:
            return self._first_line(data)
        width = first_width(_below(data, "replace"), self._mark)
        names = self._mark.join(f"column{number}" for number in range(1, width + 1))
        return f"{names}\n".encode() if names else b""

    def _first_line(self, data: bytes) -> bytes:
        """The first line of a source, with what ends it."""
        raise NotImplementedError

    def without_header(self, block: SourceBlock) -> bytes:
        """What stands in a block behind the header, or the mark, where it has that."""
        data = bytes(block.data)
        if block.index:
            return data
        if self.declared.headless:
            return data[before_header(data) :]
        return data[len(self._first_line(data)) :]

    @property
    def _mark(self) -> str:
        return self.declared.delimiter.decode()

    def detect_style(self, block: SourceBlock) -> Style:
        head = self._head(bytes(block.data))
        short = len(head) <= _MAX_HEAD
        try:
            text = str(self.without_header(block), "utf-8")
            parsed = detect_style(text or str(head, "utf-8"), self._mark)
            names = self._names(head) if short else []
        except ValueError:
            return {}
        style = parsed.stored()
        if self.declared.headless:
            front = bytes(block.data[: before_header(bytes(block.data))])
            return {**style, "h": front.decode()} if front else style
        usual = write_rows([names], self._mark, parsed) + parsed.newline
        if short and (usual.encode() != head or not block.records):
            style["h"] = head.decode()
        return style

    def _names(self, head: bytes) -> list[str]:
        lossy = self.marks is not None and UTF8 in self.marks.allowed
        rows = rows_of(_below(head, "surrogateescape" if lossy else "strict"), self._mark)
        return rows[0] if rows else []

    def line_of_names(self, head: bytes) -> str:
        """A header without what stands before and behind its names; UnicodeDecodeError."""
        return _below(head).rstrip("\r\n")

    def cells(self, line: str) -> Iterator[str]:
        """The fields of a line without its end, of which few are there at a time; Malformed."""
        return fields_of_row(line, self._mark)

    def sample(self, block: SourceBlock) -> dict[str, Any]:
        head = self.header_of(block)
        front = before_header(head)
        try:
            names = self._names(head)
        except UnicodeDecodeError as error:
            raise self._placed(block, head[: front + error.start].decode(), NO_UTF8) from None
        except Malformed as bad:
            before = head[:front].decode() + head[front:].decode()[: bad.at]
            raise self._placed(block, before, bad.message) from None
        return dict.fromkeys(unique_names(names), "")

    def literal_of(self, text: str) -> str | None:
        return text if is_number(text) else None

    def parse(self, block: SourceBlock) -> list[Any]:
        return self._table(block)[1]

    def _table(self, block: SourceBlock) -> tuple[list[str], list[dict[str, str]]]:
        """The names in the header, and the records."""
        if block.partial:
            raise too_large(block)
        data = bytes(block.data)
        names: list[str] | None = None
        if self._needs_head(block):
            try:
                names = self._mended(self._names(self.header_of(block)), ESCAPED, count=False)
            except ValueError:  # which is said of the first block, where it stands
                raise self._placed(block, "", "under a header that is none") from None
        try:
            text = data.decode()
            begin = 0 if block.index else len(data[: before_header(data)].decode())
            rows = rows_of(text[begin:], self._mark)
        except UnicodeDecodeError as error:
            raise self._placed(block, data[: error.start].decode(), NO_UTF8) from None
        except Malformed as bad:
            assert bad.at is not None  # noqa: PT017
            raise self._placed(block, text[: begin + bad.at], bad.message) from None
        if names is None:
            names = rows.pop(0) if rows else []
            names = self._mended(names, self.marks.base if self.marks else 0, count=True)
        while block.last and rows and not rows[-1]:
            rows.pop()
        records = self._records(block, names, rows, text, begin)
        filled = len(records) - (rows.count([]) if len(names) == 1 else 0)
        if block.records is not None and filled != block.records:
            # A quote behind a byte-order mark within the source: it was split as one that opens.
            raise self._placed(block, "", "records cannot be told apart from here on")
        return names, records

    def _records(
        self, block: SourceBlock, names: list[str], rows: list[list[str]], text: str, begin: int
    ) -> list[dict[str, str]]:
        """The rows as maps; an error where a name is there twice, or a row does not fit."""
        if len(set(names)) < len(names):
            if self._allows(RENAMED) and not self._allows(DUPLICATES):
                assert self.marks is not None
                names = renamed(names, self.marks.placed, first=block.index == 0)
            else:
                self._last_wins(names, rows)
        width = len(names)
        widths = set(map(len, rows))
        if widths == {width}:
            return [dict(zip(names, row, strict=True)) for row in rows]
        return self._uneven(block, names, rows, text, begin)

    def _uneven(
        self, block: SourceBlock, names: list[str], rows: list[list[str]], text: str, begin: int
    ) -> list[dict[str, str]]:
        """As ``_records``, of rows of which some have more or fewer fields than there are names."""
        width, widths = len(names), set(map(len, rows))
        records: list[dict[str, str]] = []
        told: dict[str, Loss] = {}
        headed = not self.declared.headless
        below_names = headed and not block.index
        beyond, odd, most = names, False, max(widths, default=0)
        if width < most <= width + MOST_BEYOND:
            first = text[begin:] if below_names else None
            odd = are_odd(rows, width, first, self._mark)
            if odd and self._allows(LONG_ROWS):
                beyond = names_beyond(names, most)
        blank = self._allows(BLANK_LINES) and width == 1 and 0 in widths
        if blank and below_names:
            blank = not lines_above(text[begin:], self._mark)  # else what they stand in is a title
        said_of = {count: told_of(count, width) for count in widths}
        for at, row in enumerate(rows):
            if len(row) == width:
                records.append(dict(zip(names, row, strict=True)))
            elif row or width == 1:  # in one column, a blank line may be an empty field
                was, fields, rule = said_of[len(row)]
                if not ((self._allows(rule) if row else blank) and len(row) <= len(beyond)):
                    record = block.first_record + len(records)
                    named = below_names and width > 1
                    raise ragged(
                        *(block, text, begin, at, record, was),
                        title=self.title,
                        delimiter=self._mark,
                        headed=headed,
                        more={len(row) - width for row in rows if row and named},
                        carried=(odd or len(row) < width) and not self._allows(rule),
                    )
                known = told.get(rule) or Loss(rule, 0, len(records), "$", was, fields)
                told[rule] = known._replace(count=known.count + 1)
                records.append(dict(zip(beyond, row or [""], strict=False)))
        if self.marks is not None:
            self.marks.placed += told.values()
        return records

    def _allows(self, rule: str) -> bool:
        return self.marks is not None and rule in self.marks.allowed

    def _mended(self, names: list[str], base: int, *, count: bool) -> list[str]:
        if self.marks is None or not base:
            return names
        return self.marks.mended_names(names, base, count=count)

    def _last_wins(self, names: list[str], rows: list[list[str]]) -> None:
        """Unheld for a name that is there twice, where no rule says what becomes of it."""
        twice = Counter(names).most_common(1)[0][0]
        path = "$" + value_step(twice)
        if not self._allows(DUPLICATES):
            lost = f"the column {shown(twice)}"
            raise Unheld(Difference(0, path, lost, "", "duplicate-keys"))
        whole = [row for row in rows if len(row) == len(names)]
        if whole and self.marks is not None:
            columns = [column for column, name in enumerate(names) if name == twice]
            fields = (whole[0][column] for column in (columns[0], columns[-1]))
            was, became = (shown(said(field, self.marks.base)) for field in fields)
            count = len(whole) * (len(names) - len(set(names)))
            self.marks.placed.append(Loss(DUPLICATES, count, 0, path, was, became))

    def _placed(self, block: SourceBlock, before: str, message: str) -> SyntaxInputError:
        known = block.line >= 0 or block.index == 0
        return SyntaxInputError(
            f"not valid {self.title}: {message}",
            offset=block.offset + len(before.encode()),
            line=max(block.line, 0) + before.count("\n") + 1 if known else None,
            column=len(before) - before.rfind("\n") if known else None,
            hint=_PLAIN_TABS if self._mark == "\t" and message in _QUOTES else _HINTS.get(message),
        )

    def write_text(self, records: list[Any], style: Style, *, first: bool) -> bytes:
        parsed = style_of(style)
        head, tail = style.get("h", ""), style.get("t")
        if type(head) is not str or not isinstance(tail, str | None):
            raise ValueError("the style of the header is none")
        names = names_of(records)
        if first and names and not head and not self.declared.headless:
            head = write_rows([names], self._mark, parsed) + parsed.newline
        rows = write_rows([list(record.values()) for record in records], self._mark, parsed)
        if tail is None:
            tail = parsed.newline if rows else ""
        return f"{head if first else ''}{rows}{tail}".encode()

    def style_changes(self, block: SourceBlock, style: Style) -> Style:
        data = bytes(block.data)
        if not block.records and block.index == 0:
            tail = self.without_header(block)
        else:
            tail = data[len(data.rstrip(LINE_ENDS)) :]
        usual = style_of(style).newline.encode() if block.records else b""
        return {} if tail == usual else {"t": tail.decode()}

    def style_guesses(self, block: SourceBlock, style: Style) -> Iterator[Style]:
        parsed = detect_style(self.without_header(block).decode(), self._mark)
        if parsed != style_of(style):
            changed: Style = {"e": "\n", "q": 0, **parsed.stored()}
            yield {**changed, **self.style_changes(block, changed)}

    def difference(self, block: SourceBlock, restored: Buffer) -> Difference | None:
        before = self._table(block)
        after = self._table(block._replace(data=restored))
        if before[0] != after[0]:
            size = len(self._head(bytes(block.data))) if not block.index else 0
            if size > _MAX_HEAD and not before[1]:
                was = f"a header of {size} bytes with no record under it"
                return Difference(0, "$", was, "", "value")
            return Difference(0, "$", "the header", "another", "value")
        return compared(before[1], after[1])


def _below(head: bytes, errors: str = "strict") -> str:
    """A text without what stands before its first line of cells; UnicodeDecodeError."""
    return str(head[before_header(head) :], "utf-8", errors)


def names_of(records: list[Any]) -> list[str]:
    """The keys that all records have, in one order; ValueError for what is no table of text."""
    if not records:
        return []
    names = list(records[0]) if type(records[0]) is dict else []
    if not names:
        raise ValueError("a record that is not a map, or is empty")
    text = {str}
    if not text.issuperset(map(type, names)):
        raise ValueError("a name that is no text")
    for record in records:
        if type(record) is not dict or list(record) != names:
            raise ValueError("records of different shapes")
        if not text.issuperset(map(type, record.values())):
            raise ValueError("a field that is no text")
    return names
