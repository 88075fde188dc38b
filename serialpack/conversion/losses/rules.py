"""What becomes of a value that a target does not hold as it is: the rules, by name.

A rule is *carried* where all content is there, its type or shape perhaps known only to an option
that reads it back: done without being asked. It is *dropped* (comments) where no target has it,
and *lost* where information would be gone: done only where ``--lossy`` names it. The sets of
formats (``TABLES``, ``ARRAYS``, ...) say for which targets a rule is.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache, lru_cache

from serialpack.conversion.losses.rule import ALL, NONE, Rule
from serialpack.formats import FORMATS
from serialpack.values.kinds import (
    AROUND,
    ATTRIBUTES,
    BLANK_LINES,
    COLUMNS,
    COMMENTS,
    CONTENT,
    DIGITS,
    DROPPED,
    DUPLICATES,
    EMPTY,
    FIELDS,
    HEADER,
    LATIN1,
    LONG_ROWS,
    NAN,
    NEAREST,
    NO_ROWS,
    NULLS,
    ORDER,
    RENAMED,
    SAFETY,
    SCHEMA,
    SHORT_ROWS,
    SPACE,
    UTF8,
    VIEWS,
)

#: The formats that are tables of text, those whose columns have a type, those whose values have one
#: each, and all.
TEXT_TABLES = frozenset(d.name for d in FORMATS if d.delimiter and d.is_target)
TYPED_TABLES = frozenset(d.name for d in FORMATS if d.typed_columns)
DATABASES = frozenset(d.name for d in FORMATS if d.is_database)
TABLES = TEXT_TABLES | TYPED_TABLES | DATABASES
#: Tables that keep how the table of text was written that they were made of.
KEEPING = TYPED_TABLES | DATABASES

#: The formats of which a file has one schema.
ONE_SCHEMA = frozenset(d.name for d in FORMATS if d.one_schema)

#: Those of them that have unions, and hold any record, but whose maps are one record each: Avro.
UNIONS = ONE_SCHEMA - TYPED_TABLES

#: Those that are arrays, in which all values of a place have one type.
ARRAYS = frozenset(d.name for d in FORMATS if d.is_target and (d.is_array or d.has_arrays))
#: Those of them that have several, by name: a table is one for each of its columns.
ARCHIVES = frozenset(d.name for d in FORMATS if d.has_arrays)
#: The rule by which it is, that by which several tables are one map, and that of empty ones.
BY_COLUMN, BY_TABLE, EMPTY_LISTS = "by-column", "by-table", "empty-lists"

#: The rule by which floats of an array are rounded, which is asked for by name, with a step.
FIXED = "fixed"

#: The rules by which a document gets a root element, and decimals of one column as many places.
ROOT, PLACES = "root", "places"

#: Those that are trees of elements, and those of which a file is one map.
ELEMENTS = frozenset(d.name for d in FORMATS if d.has_elements)
ONE_MAP = frozenset({"toml"})


def _dropped(rule: str) -> tuple[str, str]:
    one, many = DROPPED[rule]
    return f"{one} dropped", f"{many} dropped"


_INTEGERS = {"integer", "inexact-integer", "uint64", "bigint"}
_FLOATS = {"float", "integral-float", "non-finite"}
_CLOCK = {"date", "time", "timedelta"}

#: The rules, in the order in which they are tried and reported.
RULES: dict[str, Rule] = {
    "cells": Rule(
        "numbers and booleans are bare literals of JSON",
        frozenset({*_INTEGERS, *_FLOATS, "boolean"}),
        *(TEXT_TABLES, ("value as a bare cell", "values as bare cells"), TEXT_TABLES, "--typed"),
    ),
    "null": Rule(
        "null is an empty cell, beside numbers of an array NaN, in TOML a key that is left out",
        frozenset({"null"}),
        *(TEXT_TABLES, ("null as a cell", "nulls as cells"), TEXT_TABLES | ARRAYS | ONE_MAP),
        back="--typed",
    ),
    "missing": Rule(
        "a key that only some records have is an empty cell, or null",
        frozenset({"mixed"}),
        *(TABLES | UNIONS, ("missing field as an empty cell", "missing fields as empty cells")),
        *(TABLES | UNIONS, "--typed --null null"),
    ),
    "nested": Rule(
        "a map is a column for each of its keys",
        frozenset({"nested"}),
        *(TABLES, ("map as dotted columns", "maps as dotted columns"), TABLES, "--nest"),
    ),
    "mixed": Rule(
        "what has no column of one type is JSON text",
        frozenset({"nested", "array", "mixed", "boolean", "integral-float"}),
        *(TABLES, ("value as JSON text", "values as JSON text"), TABLES, "--nest"),
    ),
    "booleans": Rule(
        "booleans are 0 and 1, in a column that is declared BOOLEAN",
        frozenset({"boolean"}),
        *(DATABASES, ("boolean as 0 or 1", "booleans as 0 and 1"), DATABASES, ""),
    ),
    "json-like": Rule(
        "text that is JSON too stands beside columns of JSON text",
        frozenset({"text"}),
        *(TEXT_TABLES, ("text that reads as JSON", "texts that read as JSON"), TEXT_TABLES),
        back="--nest NAMES",
    ),
    "numbers": Rule(
        "integers beside floats are doubles, where these are exact",
        frozenset({"mixed", "integral-float"}),
        *(ONE_SCHEMA | ARRAYS, ("integer as a double", "integers as doubles"), ONE_SCHEMA | ARRAYS),
    ),
    NEAREST: Rule(
        "a column of a type that Parquet has not (whole seconds, views of lists, runs, dictionaries"
        " of other words than text) has the nearest one",
        *(NONE, TYPED_TABLES, ("column of the nearest type", "columns of the nearest types")),
        only=TYPED_TABLES,
    ),
    PLACES: Rule(
        "a decimal in a column that --types names, where others have more places, has zeros behind",
        *(NONE, TYPED_TABLES, ("decimal with more places", "decimals with more places")),
        only=TYPED_TABLES,
    ),
    "shapes": Rule(
        "lists are rows without a header, scalars are one column",
        frozenset({"bare"}),
        *(TABLES, ("record as a row", "records as rows"), TABLES, "--no-header"),
    ),
    BY_COLUMN: Rule(
        "the rows of a table are an array for each column",
        frozenset(),
        *(ARCHIVES, ("row as items of columns", "rows as items of columns"), ARCHIVES),
    ),
    BY_TABLE: Rule(
        "the tables of a database are lists of records by name, and such lists alone its tables",
        *(NONE, ALL, ("table by its name", "tables by their names")),
    ),
    EMPTY_LISTS: Rule(
        "a list without records is a table of the column value, in a database",
        *(NONE, ALL, ("empty list as an empty table", "empty lists as empty tables")),
    ),
    "key-order": Rule(
        "columns stand in order of first appearance, datasets by group",
        frozenset({"mixed"}),
        *(
            TABLES | UNIONS | ARRAYS,
            (
                "order of keys as that of columns or groups",
                "orders of keys as that of columns or groups",
            ),
        ),
        only=TABLES | UNIONS | ARRAYS,
    ),
    "elements": Rule(
        "numbers and booleans are text, what is empty null, and #content what is read of it",
        frozenset({*_INTEGERS, *_FLOATS, "boolean", "text", "nested"}),
        *(ELEMENTS, ("value as text of elements", "values as text of elements"), ELEMENTS, ""),
    ),
    "lists": Rule(
        "a list of one is its element in XML, and one of none an empty element",
        frozenset({"array"}),
        *(ELEMENTS, ("list of one or none as an element", "lists of one or none as elements")),
        back="--types NAME=list",
        only=ELEMENTS,
    ),
    ROOT: Rule(
        "what has no one root stands in one: in XML <root>, and records in <item>, in TOML item",
        frozenset({"bare"}),
        *(ELEMENTS | ONE_MAP, ("document in a root", "documents in roots"), ELEMENTS | ONE_MAP),
        back="--at root.item",
    ),
    "items": Rule(
        "what is in a list within a list is an element <item> in XML",
        frozenset({"array"}),
        *(ELEMENTS, ("list within a list as elements", "lists within lists as elements"), ELEMENTS),
    ),
    "names": Rule(
        "keys that are no names of XML, or have a prefix that nothing declares, are spelled by"
        " SQL/XML (ISO/IEC 9075-14): a b as a_x0020_b, a:b as a_x003A_b",
        frozenset({"nul"}),
        *(ELEMENTS, ("key as a name of XML", "keys as names of XML"), ELEMENTS),
    ),
    "bson": Rule(
        "BSON's own types become MongoDB's Extended JSON v2, relaxed",
        frozenset({"tag"}),
        *(ALL, ("BSON type as Extended JSON", "BSON types as Extended JSON"), ALL, "--tagged"),
    ),
    "tags": Rule(
        "a value under a tag of YAML or CBOR, or of an extension type of MessagePack, that has no "
        'type here is a map of the tag: {"!Ref": "x"}, {"$cborTag": [32, "x"]}',
        frozenset({"tag"}),
        *(ALL, ("value under a tag as a map", "values under tags as maps"), ALL, "--tagged"),
    ),
    "bytes": Rule(
        "bytes become base64 text (RFC 4648)",
        frozenset({"bytes", "bytearray"}),
        *(ALL, ("value of bytes as base64", "values of bytes as base64"), ALL, "--tagged"),
    ),
    "timestamps": Rule(
        "dates, times and durations become ISO 8601 text",
        frozenset({"utc-datetime", "offset-datetime", "local-datetime"} | _CLOCK),
        *(ALL, ("time as text", "times as text"), ALL, "--tagged"),
    ),
    "zones": Rule(
        "times in a named zone become ISO 8601 text with their offset, without the name",
        frozenset({"zoned-datetime"}),
        *(ALL, ("time in a zone as text with its offset", "times in zones as text with offsets")),
        back="--tagged",
    ),
    "decimals": Rule(
        "decimals, fractions and UUIDs become text",
        frozenset({"decimal", "fraction", "uuid"}),
        *(ALL, ("decimal as text", "decimals as text"), ALL, "--tagged"),
    ),
    "complex": Rule(
        "complex numbers become text, as Python and NumPy read it (1+2j)",
        frozenset({"complex"}),
        *(ALL, ("complex number as text", "complex numbers as text"), ALL, "--tagged"),
    ),
    "sequences": Rule(
        "tuples and sets become lists",
        frozenset({"tuple", "set", "frozenset"}),
        *(ALL, ("tuple or set as a list", "tuples and sets as lists"), ALL, "--tagged"),
    ),
    "arrays": Rule(
        "arrays, scalars and tables of libraries (NumPy, pandas, ...) inside an object are lists,"
        " plain values and records, what is missing null",
        frozenset({"number-array"}),
        *(ALL, ("array or scalar as plain values", "arrays and scalars as plain values")),
        back="--tagged",
    ),
    "keys": Rule(
        "keys that are no text become text",
        frozenset({"integer-key", "key"}),
        *(ALL, ("key as text", "keys as text"), ALL, "--tagged"),
    ),
    "spellings": Rule(
        "cells of a column that --types names are read in any spelling",
        frozenset(),
        *(ALL, ("cell spelled otherwise", "cells spelled otherwise"), ALL, ""),
    ),
    NULLS: Rule(
        "beside text that gets types, bare cells of the word that --null names are null",
        *(NONE, ALL, ("cell of the word for null", "cells of the word for null")),
    ),
    "signs": Rule(
        "a NaN with a sign, as processors make of 0/0, is NaN",
        *(NONE, ALL, ("sign of a NaN dropped", "signs of NaN dropped")),
    ),
    SAFETY: Rule(
        "whether the system that made a UUID vouches for it (is_safe, of uuid.uuid1) is dropped",
        *(NONE, ALL, ("word on how safe a UUID is dropped", "words on how safe UUIDs are dropped")),
        back="--tagged",
    ),
    NAN: Rule(
        "NaN and infinities become null, a NaN with bits of its own where the target has NaN that;"
        " where JSON has them, they are read",
        frozenset({"non-finite", "nan-bits"}),
    ),
    # None is about integers of more than 4300 digits: Python does not write them in decimal.
    "bigint": Rule(
        "integers that the target cannot hold become decimal text",
        frozenset({"inexact-integer", "uint64", "bigint"}),
    ),
    DIGITS: Rule(
        "numbers become the nearest double (beyond all: an infinity), an integer -0 loses its sign,"
        " times are cut to microseconds",
        frozenset({"digits", "overflow", "negative-zero"}),
    ),
    DUPLICATES: Rule("the last of equal keys wins", frozenset({"duplicate-keys"})),
    COMMENTS: Rule("comments are dropped", frozenset(), ALL, _dropped(COMMENTS)),
    EMPTY: Rule("an empty document of YAML among others is dropped", NONE, ALL, _dropped(EMPTY)),
    SPACE: Rule("white space between the elements of XML is dropped", NONE, ALL, _dropped(SPACE)),
    HEADER: Rule(
        "what the header of a volume says beside type and shape is dropped",
        *(NONE, ALL, _dropped(HEADER)),
    ),
    ATTRIBUTES: Rule(
        "attributes of HDF5 are dropped where a dataset alone is taken, or no array holds them; and"
        " links, empty groups, names of enumerated numbers and that paths are references, and"
        " attributes of a frame",
        *(NONE, ALL, _dropped(ATTRIBUTES)),
    ),
    NO_ROWS: Rule(
        "the names of the columns of a table without rows are dropped, unless it is of text",
        *(NONE, ALL, _dropped(NO_ROWS)),
    ),
    SCHEMA: Rule(
        "of a table of a database that goes into another, or whose columns are other ones there,"
        " keys, indexes, constraints and triggers are dropped",
        *(NONE, DATABASES, _dropped(SCHEMA), DATABASES),
    ),
    VIEWS: Rule(
        "of several tables and views of a database, those views are dropped that it cannot read",
        *(NONE, ALL, _dropped(VIEWS)),
    ),
    CONTENT: Rule(
        "where text and elements of XML alternate, or elements of several names, they are a list,"
        " #content",
        frozenset(),
        *(ALL, ("element as the list of its content", "elements as the lists of their content")),
    ),
    RENAMED: Rule(
        "of columns of one name all but the first get a number, those without a name their place",
        *(NONE, ALL),
        ("column renamed, as another has its name", "columns renamed, as others have their names"),
    ),
    SHORT_ROWS: Rule(
        "a row of a table of text that ends early is a record without the last fields",
        *(NONE, ALL),
        ("short row without its last fields", "short rows without their last fields"),
    ),
    LONG_ROWS: Rule(
        "a row of a table of text with more fields than there are names, up to 1,000 more, is a"
        " record with those behind by their place, column4, where other rows have no more",
        *(NONE, ALL),
        ("long row with fields by their place", "long rows with fields by their place"),
    ),
    BLANK_LINES: Rule(
        "a blank line in a table of text of one column is a record whose field is empty, but at the"
        " end of all, where it is none",
        *(NONE, ALL, ("blank line as an empty field", "blank lines as empty fields")),
    ),
    LATIN1: Rule(
        "the text of Python 2, which is bytes, is Latin-1 where some of it is not ASCII",
        *(NONE, ALL, ("source of Python 2 as Latin-1", "sources of Python 2 as Latin-1")),
    ),
    ORDER: Rule("text and elements of XML that alternate are put together", NONE),
    COLUMNS: Rule("of a table of text without rows, the names of columns are dropped", NONE),
    AROUND: Rule("what is around records of --at, above a table, or no array is left out", NONE),
    FIELDS: Rule("a field of --fields that no record has is left out", NONE),
    FIXED: Rule(
        "floats of an array become the nearest multiples of STEP (fixed:STEP): off by half of it at"
        " most, else left as they are",
        frozenset(),
        only=ARRAYS - ARCHIVES,
    ),
    "objects": Rule(
        "objects of a class become maps of their attributes, those of a subclass of a plain type"
        " that type, a member of an enumeration its value, a path text; those of Java maps of their"
        " fields",
        frozenset({"object"}),
    ),
    UTF8: Rule("invalid UTF-8 and lone surrogates become U+FFFD", frozenset({"surrogates"})),
    "types": Rule(
        "numbers, booleans and null become the text that JSON has for them",
        frozenset({"null", "boolean", *_INTEGERS, "float", "integral-float"}),
    ),
}

#: Rules, and kinds of which only some values are what the rule is about: types of a library's own,
#: and of a NaN's bits the sign.
MORE = frozenset(
    {
        *(("timestamps", "tag"), ("timestamps", "number-array"), ("objects", "key")),
        ("signs", "nan-bits"),
    }
)

#: The word of ``--lossy`` for all rules.
EVERY = "all"


@cache
def carried_to(target: str) -> frozenset[str]:
    """The rules that carry values to ``target``: nothing need be said for them."""
    return frozenset(
        name for name, rule in RULES.items() if rule.is_for(target) and rule.is_carried(target)
    )


def allowed_for(target: str, lossy: Collection[str], *, strict: bool) -> tuple[str, ...]:
    """The rules that may be applied, where the user named ``lossy``."""
    return _allowed(target, frozenset(lossy), strict)


@lru_cache(64)
def _allowed(target: str, lossy: frozenset[str], strict: bool) -> tuple[str, ...]:
    named = set(RULES) - {FIXED} | lossy if EVERY in lossy else set(lossy)
    named |= set() if strict else carried_to(target)
    return tuple(name for name, rule in RULES.items() if name in named and rule.is_for(target))
