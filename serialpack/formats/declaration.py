"""What is known of a format before its module is imported: one declaration each."""

from __future__ import annotations

from typing import NamedTuple


class Declaration(NamedTuple):
    """The facts about one format; what is left out is not so.

    ``number`` is its number in the container, for ever. ``where``: its class, as module:name.
    """

    name: str
    number: int
    where: str
    #: Of file names, lower case, with the dot; the first is the usual one.
    extensions: tuple[str, ...] = ()
    #: First bytes that are the sign of it, whatever the file is called.
    magic: tuple[bytes, ...] = ()
    #: Whether a file can be in it.
    is_source: bool = True
    #: Whether ``--to`` writes it.
    is_target: bool = True
    #: Whether it is text, in UTF-8.
    is_text: bool = False
    #: Whether its records are lines, so that a piece of it can be looked at alone.
    has_lines: bool = False
    #: What stands between the fields of a line, where it is a table with a header of names.
    delimiter: bytes = b""
    #: Whether a file in it is a sequence of records, also where it holds one only.
    sequence: bool = False
    #: What stands between two files of it that together are one; None where they are none. Tables
    #: have one line of names then.
    joins: bytes | None = None
    #: As which kind of text the serializer columns takes it apart.
    columns: str = ""
    #: The serializers that ``--to`` tries, in order, where that is not the one of its name.
    writers: tuple[str, ...] = ()
    #: Whether it is written by itself, though a serializer has its name: that one's is another.
    own_writer: bool = False
    #: Whether ``--tagged`` reads it and writes it with the tags of Extended JSON.
    tagged: bool = False
    #: The format of which it is a dialect, that files of that name and content may be in.
    dialect_of: str = ""

    @property
    def written_by(self) -> tuple[str, ...]:
        """The names of the serializers that write it, the first whose proof holds."""
        return self.writers or (self.name,)
