"""What is known of a format before its module is imported: one declaration each."""

from typing import Any, NamedTuple, Protocol


class Declaration(NamedTuple):
    """The facts about one format; what is left out is not so.

    ``number`` is its number in the container, for ever. ``where``: its class, as module:name.
    """

    name: str
    number: int
    where: str
    #: What names of its files end in, in lower case, with the dot; the first is the usual one.
    extensions: tuple[str, ...] = ()
    #: First bytes that are the sign of it, whatever the file is called. (Any of these.)
    magic: tuple[bytes, ...] = ()
    #: Where the magic may stand: at any of these bytes of a file.
    magic_at: tuple[int, ...] = (0,)
    #: Where files in other formats begin with the magic, too: the function (module:function) that
    #: is given a head, and says whether it is of this one.
    sign: str = ""
    #: Where neither name nor magic tells all: the function (module:function) that is given a head,
    #: and this format's name, and gives the name of the format that it is.
    told_by: str = ""
    #: Where its files may have what is no value: the function (module:function) that is given a
    #: head, and whether that is all, and gives what reads it without (``shared.tidier``), or None.
    tidied_by: str = ""
    #: Whether a file can be in it.
    is_source: bool = True
    #: Whether ``--to`` writes it.
    is_target: bool = True
    #: Whether all its files begin with the magic, so that any other file only has such a name.
    has_magic: bool = False
    #: The first bytes of its lists and maps, where it has no magic that tells it.
    containers: frozenset[int] = frozenset()
    #: Whether it is text, in UTF-8.
    is_text: bool = False
    #: Whether such a text says itself in which encoding it is, so that the user cannot.
    says_encoding: bool = False
    #: Whether its records are lines, so that a piece of it can be looked at alone.
    has_lines: bool = False
    #: What stands between the fields of a line, where it is a table with a header of names.
    delimiter: bytes = b""
    #: Whether such a table has no header: its columns are ``column1``, ``column2``, ...
    headless: bool = False
    #: Whether a file in it is a sequence of records, also where it holds one only.
    sequence: bool = False
    #: What stands between two of its files put together as one; None where they make none. Of
    #: tables only the first one keeps its line of names.
    joins: bytes | None = None
    #: The kind of text as which the serializer ``columns`` takes it apart; empty: it does not.
    columns: str = ""
    #: The serializers that ``--to`` tries, in order, where that is not only the one of its name.
    writers: tuple[str, ...] = ()
    #: Whether it writes itself, though a serializer has its name: that writes another thing.
    own_writer: bool = False
    #: Whether its values are JSON's, in JSON's spelling: also with the tags of Extended JSON.
    is_json: bool = False
    #: The bits of the integers that every reader of it holds: JSON's are doubles.
    integer_bits: int = 64
    #: The format of which it is a dialect, that files of that name and content may be in.
    dialect_of: str = ""
    #: The format of which it is a version: readers of that one read its bytes, too.
    version_of: str = ""
    #: Whether a file in it has one schema that all its records are in; ``typed_columns``: whether
    #: that is of columns, so that it is a table.
    one_schema: bool = False
    typed_columns: bool = False
    #: Whether it is a database: tables by name, in which booleans are numbers.
    is_database: bool = False
    #: Whether it consists of elements that hold text, and has no other types.
    has_elements: bool = False
    #: Whether its decimals are Decimal128, to which others are not alike.
    decimal128: bool = False
    #: Whether a file in it is one array, of which the first bytes tell type and shape.
    is_array: bool = False
    #: Whether it is arrays by name.
    has_arrays: bool = False
    #: Whether it is datasets, of which a library tells what there is, and gives each as an array.
    has_datasets: bool = False
    #: The class (module:class), a ``Variants``, that makes declarations of names which say how a
    #: file is in it (``csv:latin-1+no-header``); these have it, too.
    variants: str = ""

    @property
    def is_json_text(self) -> bool:
        """Whether a file in it is one text of JSON, of which records may be elements."""
        return self.is_json and not self.has_lines

    @property
    def written_by(self) -> tuple[str, ...]:
        """The names of the serializers that write it, the first whose proof holds."""
        return self.writers or (self.name,)


class Variants(Protocol):
    """The ways in which a file can be in a format that has no number for each of them."""

    def named(self, name: str, base: Declaration) -> Declaration | None:
        """The declaration that ``name`` means; None where it is no name of a variant."""

    def stored(self, style: dict[str, Any], base: Declaration) -> Declaration | None:
        """The declaration of the variant whose parameters are in a container's ``style``. None
        where it needs what is not known here, ValueError where they are malformed."""
