"""docs/conversion.md: what becomes of each kind of value in each target, made of the rules."""

from __future__ import annotations

from serialpack.conversion.losses.rule import Rule
from serialpack.conversion.losses.rules import RULES
from serialpack.conversion.targets.verdicts import Verdict, verdict
from serialpack.conversion.targets.writers import written
from serialpack.values.kinds import KINDS

INTRODUCTION = """# What becomes of a value in a conversion

Made by `make generate` from the declarations; a test fails where it is stale.

A value is **same** where the target holds it itself. It is **carried** where the target holds all
of its content in another type or shape: that is done, counted, told in the closing line and under
`carried` in `--json`, and refused by `--strict` (exit 4). What would be **lost** is refused, with
how much of it there is and where the first stands, unless `--lossy KIND` or `--lossy all` names
it. What no rule writes is **refused**. Whatever is written is read again and compared; what was
carried is turned back for that, where it was. `partly` says that the target holds some values of
the kind.

Two tables at the end say it all: [the rules](#the-rules), by the name that the closing line and
`--lossy` have for them, and [every kind in every target](#every-kind-in-every-target). Before them
stands what is true of one format, or of several alike.

## Tables: columns, null and missing

Columns of a table are found in a first pass over all records, in the order in which their keys
appear. Null and a missing key are both an empty cell in CSV and TSV, and read as null, below a map
that is there as missing; `--null null`, said when writing and when reading, keeps them apart. A map
becomes columns `a.b` only where it is a map with keys in every record that has it, and not null
(with `--null`, null too); any other column with maps or lists is JSON text throughout. `--nest`
reads each cell that is JSON of a list, a map or a string as such; where text is among the cells
that reads as JSON too, the closing line names the columns to read: `--nest tags,items`, or `--nest
-` for none. Of SQLite, Parquet and Arrow, which have null for what is missing, it takes a map of
nothing but null as missing: none was made columns.

## Types of columns of text

Cells of CSV and TSV, and XML, are text, always, but where types are asked for. `--infer` looks at
all records and gives a column the type that its cells have, empty ones aside: integer, number,
boolean, date, time or timestamp, where the target has that type itself, and each cell is what the
column's one spelling makes of its value: digits with or without `.0`, exponents as Python writes
them (`1e-05`), JavaScript (`1e-7`), Java and Spark (`1.0E7`), R (`1e+05`), .NET, SQLite,
PostgreSQL, pyarrow, Polars, C's `%g` and `%.17g` and serialpack itself, as many decimals, `true`,
`TRUE` or `True`, `T` or a space, as many digits of seconds (or all up to the last that is not 0, as
Go writes them, or six or none, as Python does), `2023-12-31` or `31.12.2023`. `nan` and `inf`, as
NumPy writes them, are numbers beside numbers, for a target that has them. What is left stays text,
and such columns are named: `00123`, `+1`, `1.5` beside `1.50`, `12/31/2023` (which `--types` reads
as `mdy`, `31/12/2023` as `dmy`), `1,5` (as a `decimal-comma`, `1.234,50` too), integers beyond 64
bits, in JSON beyond 2^53. In records of other formats only dates and times are found in text.
`--types NAME=TYPE,...` names types by hand, also `utc` (times with whatever offsets as their
moments in UTC), `decimal` (of other numbers, too, with all their digits; in Parquet and Arrow all
of a column have as many places), `duration` (of days and less: an interval with months stays text),
`bytes` (base64), `text` (to leave a column out of `--infer`; bytes are read as UTF-8, as Parquet
and Avro have them where text had no type of its own) and `list` (of what is none, or of nothing),
and of what is within maps and lists too (`user.since=date`). Such cells are read in any spelling,
integers and numbers also with commas that surely stand between thousands; those in another than
most are told, and refused by `--strict`. Parquet and Arrow keep, under the key `serialpack` beside
the columns, and SQLite in a comment behind those of the table, how each column and the file was
written: delimiter, line ends, quotes, a mark. `--to csv` (`--to tsv`, of what had tabs) writes it
so again: the closing line says `back: the same bytes` where each block of the source was written
again to compare it, else `the same cells`. Booleans are 0 and 1 in SQLite, in a column that is
declared so.

## Parquet, Arrow and Avro

A map in Parquet and Arrow is a struct with a field for each key. Where the maps in one place have
more than 256 keys, and each on average less than one in 64 of them, the keys are data: these are
maps of text to the one type of the values, JSON text where that is of several, and in CSV, TSV and
with `--flatten` no columns of their own. A table itself has a column for each key in any case.
What columns of others hold once and mean often (dictionaries, also of lists and maps; runs; views
of text and of lists) is written out where it is meant.

Parquet and Arrow become each other, and themselves, by their types: integers and floats of every
width, decimals as declared, units and zones of times, dictionaries of text, maps, what the schema
and its fields say beside the types (as pandas does), names that come twice; the file that is
written is read back, and compared bit for bit, before any of it goes to the target. Where Parquet
has not the type, the nearest is written: milliseconds for whole seconds, days for `date64`, the
words themselves for dictionaries of other than text. Runs, and views of lists, are written out.
That is told as `nearest`. `--fields` takes columns so, too. A column that Parquet has nothing near
for (a union, a struct without fields) is made of values, as JSON text, and the others with it, but
with their own types; so are maps as columns (`--flatten`). Where other values, or fields within
columns, are asked for, all columns have the types of values.

A document may have its table by columns: lists by name, as many services answer
(`{"t": [1, 2], "rain": [0, 3]}`), or what `to_json` of pandas writes with `orient="columns"`, its
default, or `"split"`. `--columnar` reads the records across them, of the map that `--at` names or
of all of it. Labels of rows that only count them are not kept, others are the first column,
`index`; columns of other lengths, or with other labels, are refused, and so are those without
values, whose names would be lost (`--lossy columns`).

Lists below one of names, as spreadsheets answer (`[["a", "b"], [1, 2]]`), are records by these with
`--header`; a list that is shorter lacks the last keys. Without it they are rows of columns without
names, in CSV the same text.

Avro has unions, so that what is of several types is held as it is. Maps in one place are one
record all the same, whose fields are null where a key is missing, and integers beside floats are
doubles; maps whose keys are no names, or that have more than 16 lists of keys below one key, are
Avro's maps.

## SQLite

A column of an SQLite table is declared INTEGER, REAL, TEXT, BLOB or BOOLEAN where all its values
are of that one type, and else without a type, under which SQLite changes no value. Columns with
lists, and booleans beside other values, are JSON text, declared JSON (JSON TEXT where numbers are
among them, of which SQLite would else make its own). So is text that Parquet and Arrow mark as
JSON. When a table is read, columns declared BOOLEAN and JSON are values again, the latter where
each text in them is JSON. Of several tables and views a format that holds maps gets one, in which
each is a list of records by its name, up to 64 MiB of them; one without rows is an empty list, and
the names of its columns are dropped, which is told. `--table` takes one, of any size, and `-o
FOLDER/` makes of a single database a file of each, of all or of none. Views that SQLite itself
cannot read (of tables that are gone) are left out, and named. A document (JSON, YAML, ...) that is
a map of nothing but lists of records, 2 to 64 of them, becomes a database with a table for each,
whose columns `--types users.since=date` names; with `--table` it is one row, and with `--at` one of
the lists the records. Other tables that are made of it alone, with `-o FOLDER/`, are a file for
each of the lists too. A database that becomes a database, with nothing else asked for, is copied,
with all its keys, indexes and views; a table that alone goes into another has none of these, which
is told.

## Numbers

A number of text is the double that stands for it where both are one number: `1.10` is 1.1, and
`0e999999999` is 0.0, since zero times any power of ten is zero. `1e999` is no double, and needs
`--lossy digits`. A target of JSON text keeps the spelling.

## Objects in pickles

Pickles (`--trust`) of what NumPy, pandas, Arrow or polars have are read as containers of such
objects are: an array alone as its rows, a frame alone as a table. Inside an object they are lists,
plain values and records, and NaT and what is missing are null: told as `arrays`; with `--tagged`
an array or a scalar of NumPy has its type. Periods and intervals of pandas are the text by which it
calls them (`2024-01`, `(0, 1]`), from frames, and from columns of Parquet and Arrow.

## Times

A time of whole microseconds is Python's. One with nanoseconds (pandas', NumPy's and Arrow's
`datetime64[ns]` and `timedelta64[ns]`, MessagePack's timestamps) is told by nine digits in text
(`2024-01-01T00:00:00.123456789`, `PT0.000000001S`), has its type in Parquet, Arrow and `.npy`, and
is refused where it is finer yet. A column of times of day, or of times in another zone than UTC,
that have them is text, with the offset (`timestamps`, `zones`); below a map or a list they are
refused. So is a column with times before the year 1 or beyond 9999: text of ISO 8601 with years of
six digits and a sign (`+010000-01-01T00:00:00`), in a zone those in UTC. An interval of months,
days and nanoseconds, as Arrow, Parquet and DuckDB have it, is text as PostgreSQL writes it, each
part with its own sign (`P1Y2M3DT4H5M6.789S`, `P-1M2D`), below a map or a list, too; Parquet's are
intervals in Arrow, and text in Parquet, for which no library here writes them.

A column of times that all are in one zone (`Europe/Berlin`, or an offset) has that zone as its type
in Parquet and Arrow, where each of them comes back from its moment; with `--infer` also where it is
text with one offset. Times in several zones, and below a map or a list, are text; `--types
NAME=utc` makes the former their moments in UTC. A time that is finer than microseconds is refused
by `--types`, which `--lossy digits` makes shorter.

## CSV and TSV

A first line `sep=;` of CSV, by which Excel is told the delimiter, names that and is no line of
cells: bytes that are given back have it, and what is converted has not. In quotes (`"sep=;"`) it
may be the name of a column: it tells the delimiter, and is refused as a line above the table, with
the command that leaves it out. Lines that all end in
carriage returns alone, as of old Macs, are read as lines, which is told; in quotes these stay.
`inspect FILE` shows their records too; to `pack`, which keeps the bytes, they are text without any.
Cells behind spaces (`1, "Smith, John"`) are read without these, which is told, where quotes stand
behind them, and the first rows have as many cells each then; without quotes (`1, 2`) the spaces are
of the cells. Lines that begin with `#`, and blank ones, above a table of several columns are left
out, which is told, where none of them may be its names (`#a,b` may be, so that it is, also below
`##`, as in VCF); a title there is information, and refused, or left out by `around`.

CSV and TSV are written with line feeds, quotes where they are needed, in UTF-8 without a byte-order
mark; where the source is one too, with its delimiter, ends of lines and mark, and quoted as it is
where its first 64 KiB follow a rule: all cells, those of some columns, those that are not empty.
`--out-delimiter CHAR` says what stands between the fields, whatever the source is: `,`, `;` or `|`.
Several that become one file (`-o -`) have line feeds, quotes where they are needed, and no mark; a
column that is JSON text of one of them is so of all, and `--infer` looks at all of them, whatever
the format.

## JSON

JSON5 (comments, commas behind the last, keys without quotes, texts in single ones, tabs in texts,
other numbers) and JSON documents one after another, with commas between or without, are read as
JSON is, where that shows in the first 64 KiB: the documents are a list, comments are dropped, and
told, and so is what it was read as. `NaN` and `Infinity`, as Python writes them, are read where the
target has such values.

## Documents of YAML

Each document is a record. Of several, those in which nothing stands, as behind a last `---`, are
none, which is told; one that says `null` is null.

## Tags of YAML, CBOR and MessagePack

A tag of YAML that has no type here (`!Ref x` of CloudFormation, `!include` of Home Assistant, also
`!!omap`) becomes a map of that one key, and is itself in YAML; its text is text, whatever it looks
like. Under a key `<<`, and as a key, such a value is refused. So are a tag of CBOR, its `undefined`
and other simple values, and an extension type of MessagePack, which become what `--tagged` writes
of them: `{"$cborTag": [32, "x"]}`, `{"$undefined": true}`, `{"$msgpackExt": {...}}`.

## XML

An element of XML is a map: `@name` for an attribute, a key for each element in it, a list where one
repeats, `#text` for text beside these; nothing but text is that text, and nothing at all is null.
Text is kept as it is. Between elements white space is dropped, and told. The order of text in
several runs, and of elements of one name that stand apart, is lost by `order`. What has no one
root element (records, a list, a map of several keys, a number) stands in `<root>`, each item of a
list that has no name in `<item>`. A key that is no name of XML, or has a prefix that no `xmlns:`
declares there, is spelled by SQL/XML: `a b` as `a_x0020_b`, `a:b` as `a_x003A_b`. A list of one is
its element, and one of none an empty element: `--types tags=list` reads either as a list again,
with `tags=integer` beside it as one of integers. `--at` reads a list below the root of XML however
many elements it has; a map at its path is one document. A key that is empty is `_`, and one that
begins with `@`, or is `#text`, an element (`_x0040_context`) where its value is a map or a list.

## TOML

A file of TOML is one map. Records, a list or a scalar are its one key `item`, of which `--at item`
reads a list as the records again; null is none of its values, and left out by `null`.

## HDF5

An HDF5 file is a map of arrays: a dataset is called by its groups too (`run/field`), and an
attribute behind what it is of: `run/field@unit`, `run@unit`, and `@title` of the file. Such names
become attributes again where what they are of is there. A dataset that is taken alone, by `--at`
or for a table, is without its attributes, which is told. Where lists of any length stand among the
datasets (or nothing: a null dataspace), formats of values get the rows of all; .npz and HDF5, whose
arrays hold none of that, refuse these, or leave them out by `around`. Times are those of
NumPy: seconds since 1970, or what PyTables has of eight bytes, to the microsecond. A reference is
the path of what it leads to, which is told.
"""


def page() -> str:
    """The text of the page."""
    return "\n".join([INTRODUCTION, *_rules(), "", *_kinds(), ""])


def _rules() -> list[str]:
    lines = ["## The rules", "", "| rule | what it does | carried to | lost in | read back by |"]
    lines.append("| --- | --- | --- | --- | --- |")
    for name, rule in RULES.items():
        lines.append(
            f"| `{name}` | {rule.about} | {_targets(rule.carried)} | {_lost(rule)}"
            f" | {f'`{rule.back}`' if rule.back else ''} |"
        )
    return lines


def _lost(rule: Rule) -> str:
    if "*" in rule.carried:
        return ""
    return _targets(rule.only - rule.carried)


def _targets(names: frozenset[str]) -> str:
    return "any" if "*" in names else ", ".join(sorted(names))


def _kinds() -> list[str]:
    targets = written()
    lines = ["## Every kind in every target", "", f"| kind | {' | '.join(targets)} |"]
    lines.append("|" + " --- |" * (len(targets) + 1))
    for kind, about in KINDS.items():
        cells = [_word(verdict(kind, target)) for target in targets]
        lines.append(f"| {about} | {' | '.join(cells)} |")
    return lines


def _word(found: Verdict) -> str:
    rules = f": {', '.join(found.rules)}" if found.rules else ""
    return f"{found.word}{rules}{' (partly same)' if found.partly else ''}"
