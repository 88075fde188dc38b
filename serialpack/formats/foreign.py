"""Kinds of files that are no format here (pictures, archives, programs), told by their first bytes.

For each a message says what it is and what helps. The first bytes of a format are on its line in
``formats``.
"""

import re
from typing import NamedTuple

#: Bytes that stand at an offset, all of which must.
Signature = tuple[tuple[int, bytes], ...]


class KnownFile(NamedTuple):
    """A kind of file: what it is called, and any of the signatures that tell it.

    ``cannot``: why it is not converted, and ``instead`` what helps; empty where it is a format.
    ``names``: what ``--to`` and ``--from`` are given for it, such as its extensions. ``written``:
    what is written in its place; ``through``: its tool undoes a compression around it, too.
    """

    words: str
    signatures: tuple[Signature, ...]
    cannot: str = ""
    instead: str = ""
    names: tuple[str, ...] = ()
    written: str = ""
    through: bool = False

    @property
    def not_written(self) -> str:
        """What helps who wants to write one; empty where it is no format of data."""
        lists = "serialpack unpack --help lists what is"
        return self.written or (lists if self.cannot == _UNREAD else "")


def _front(*magics: bytes) -> tuple[Signature, ...]:
    return tuple(((0, magic),) for magic in magics)


def _riff(kind: bytes) -> tuple[Signature, ...]:
    return (((0, b"RIFF"), (8, kind)),)


_NO_DATA = "not a data format"
_UNREAD = "known, but not read here"
_PAIR = (_UNREAD, "as a file NAME.hdr beside its NAME.img it is")
_OFFICE = (_NO_DATA, "save its table as CSV")
_OPENED = "--to csv writes a table that it opens"
_PICTURE = (_NO_DATA, "a tool for pictures converts it, such as ImageMagick")
_SOUND = (_NO_DATA, "a tool for sound and film converts it, such as ffmpeg")
_PAGES = (_NO_DATA, "a tool makes text of it, such as pdftotext")
_PACKED = "serialpack pack keeps its bytes"
_PROGRAM = (_NO_DATA, _PACKED)
_ZIP = b"PK\x03\x04"
#: What may be the first file in an Office document: most programs write the list of types first.
_OFFICE_FIRST = (b"[Content_Types].xml", b"_rels/.rels", b"docProps/", b"xl/", b"word/", b"ppt/")


#: By compression, the command that undoes it, of a file or a pipe.
UNDONE_BY = {
    "gzip": "gzip -dc",
    "zstd": "zstd -dc",
    "xz": "xz -dc",
    "lzma": "xz -dc",
    "bzip2": "bzip2 -dc",
    "lz4": "lz4 -dc",
    "brotli": "brotli -dc",
}


def _by(command: str) -> tuple[str, str]:
    """For ``KnownFile``, of files in which others are: why not, and the command that takes them
    out."""
    return _NO_DATA, f"{command} unpacks it"


def _jc(parser: str) -> str:
    """The command that makes JSON of text for which jc has a parser."""
    return f"jc --{parser} <FILE >NEW.json makes JSON of it"


#: The first that fits is it: those that say more stand before those that say less.
KNOWN: tuple[KnownFile, ...] = (
    KnownFile("gzip", _front(b"\x1f\x8b"), *_by(UNDONE_BY["gzip"]), ("gz", "gzip")),
    KnownFile("zstd", _front(b"\x28\xb5\x2f\xfd"), *_by(UNDONE_BY["zstd"]), ("zst", "zstd")),
    KnownFile("xz", _front(b"\xfd7zXZ\x00"), *_by(UNDONE_BY["xz"]), ("xz",)),
    # Of LZMA the usual properties, then a size that is not known, or below 2^40.
    KnownFile(
        "lzma",
        (((0, b"\x5d\0\0"), (5, b"\xff" * 8)), ((0, b"\x5d\0\0"), (10, b"\0\0\0"))),
        *_by(UNDONE_BY["lzma"]),
        ("lzma",),
    ),
    KnownFile("bzip2", _front(b"BZh"), *_by(UNDONE_BY["bzip2"]), ("bz2", "bzip2")),
    KnownFile("lz4", _front(b"\x04\x22\x4d\x18"), *_by(UNDONE_BY["lz4"]), ("lz4",)),
    KnownFile("lzip", _front(b"LZIP"), *_by("lzip -dc"), ("lz", "lzip")),
    KnownFile("snappy", _front(b"\xff\x06\x00\x00sNaPpY"), *_by("snzip -dc"), ("sz", "snappy")),
    KnownFile("compress", _front(b"\x1f\x9d"), *_by("gzip -dc"), ("z",)),
    KnownFile(
        "an Office document",
        tuple(((0, _ZIP), (30, first)) for first in _OFFICE_FIRST),
        *_OFFICE,
        ("xlsx", "docx", "pptx", "excel"),
        _OPENED,
    ),
    KnownFile(
        "an OpenDocument file",
        (((0, _ZIP), (30, b"mimetypeapplication/vnd.oasis.opendocument")),),
        *_OFFICE,
        ("ods", "odt", "odp"),
        _OPENED,
    ),
    KnownFile("zip", _front(_ZIP, b"PK\x07\x08"), *_by("unzip"), ("zip", "jar")),
    KnownFile("an empty zip", _front(b"PK\x05\x06"), _NO_DATA, "there is nothing in it"),
    KnownFile("7z", _front(b"7z\xbc\xaf\x27\x1c"), *_by("7z x"), ("7z",)),
    KnownFile("rar", _front(b"Rar!\x1a\x07"), *_by("unrar x"), ("rar",)),
    KnownFile("tar", (((257, b"ustar"),),), *_by("tar -xf"), ("tar", "tgz"), through=True),
    KnownFile("cpio", _front(b"070701", b"070707"), *_by("bsdtar -xf"), ("cpio",), through=True),
    KnownFile("ar", _front(b"!<arch>\n"), *_by("ar x"), ("ar", "deb")),
    KnownFile("an RPM package", _front(b"\xed\xab\xee\xdb"), *_by("bsdtar -xf"), ("rpm",)),
    KnownFile("a cabinet", _front(b"MSCF\0\0\0\0"), *_by("bsdtar -xf"), ("cab",)),
    KnownFile("PNG", _front(b"\x89PNG\r\n\x1a\n"), *_PICTURE, ("png",)),
    KnownFile("JPEG", _front(b"\xff\xd8\xff"), *_PICTURE, ("jpg", "jpeg")),
    KnownFile("GIF", _front(b"GIF87a", b"GIF89a"), *_PICTURE, ("gif",)),
    KnownFile("TIFF", _front(b"II*\x00", b"MM\x00*"), *_PICTURE, ("tif", "tiff")),
    KnownFile("BMP", (((0, b"BM"), (6, b"\0\0\0\0")),), *_PICTURE, ("bmp",)),
    KnownFile("WebP", _riff(b"WEBP"), *_PICTURE, ("webp",)),
    KnownFile("a Photoshop picture", _front(b"8BPS"), *_PICTURE, ("psd",)),
    KnownFile("WAV", _riff(b"WAVE"), *_SOUND, ("wav",)),
    KnownFile("AVI", _riff(b"AVI "), *_SOUND, ("avi",)),
    KnownFile("FLAC", _front(b"fLaC"), *_SOUND, ("flac",)),
    KnownFile("Ogg", _front(b"OggS"), *_SOUND, ("ogg", "opus")),
    KnownFile("MP3", _front(b"ID3"), *_SOUND, ("mp3",)),
    KnownFile("MP4", (((4, b"ftyp"),),), *_SOUND, ("mp4", "mov", "m4a")),
    KnownFile("Matroska", _front(b"\x1a\x45\xdf\xa3"), *_SOUND, ("mkv", "webm")),
    KnownFile("PDF", _front(b"%PDF-"), *_PAGES, ("pdf",)),
    KnownFile("PostScript", _front(b"%!PS"), *_PAGES, ("ps", "eps")),
    KnownFile("RTF", _front(b"{\\rtf"), *_PAGES, ("rtf",)),
    KnownFile(
        *("an old Office document", _front(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), *_OFFICE),
        *(("xls", "doc", "ppt"), _OPENED),
    ),
    KnownFile("an ELF program", _front(b"\x7fELF"), *_PROGRAM, ("elf", "so")),
    KnownFile("a Windows program", _front(b"MZ"), *_PROGRAM, ("exe", "dll")),
    KnownFile(
        "a macOS program",
        _front(b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe"),
        *_PROGRAM,
        ("dylib",),
    ),
    KnownFile("WebAssembly", _front(b"\0asm"), *_PROGRAM, ("wasm",)),
    KnownFile("a Java class", _front(b"\xca\xfe\xba\xbe"), *_PROGRAM, ("class",)),
    KnownFile("Parquet", _front(b"PAR1")),
    KnownFile("Arrow", _front(b"ARROW1")),
    KnownFile("Avro", _front(b"Obj\x01")),
    KnownFile("Java serialization", _front(b"\xac\xed\x00\x05")),
    KnownFile("HDF5", _front(b"\x89HDF\r\n\x1a\n")),
    KnownFile("SQLite", _front(b"SQLite format 3\x00")),
    KnownFile(
        "DuckDB",
        (((8, b"DUCK"),),),
        _UNREAD,
        "duckdb FILE \"COPY NAME TO 'NEW.parquet'\" makes Parquet of a table",
        ("duckdb",),
        "--to parquet writes a table that it reads",
    ),
    KnownFile(
        "ORC",
        _front(b"ORC"),
        _UNREAD,
        "python3 -c 'import sys, pyarrow as a, pyarrow.orc as o, pyarrow.parquet as p;"
        ' p.write_table(o.read_table(a.BufferReader(sys.stdin.buffer.read())), "NEW.parquet")\''
        " <FILE makes Parquet of it",
        ("orc",),
        "--to parquet writes what pyarrow reads, which writes it",
    ),
    KnownFile("a binary property list", _front(b"bplist"), _UNREAD, _jc("plist"), ("plist",)),
    KnownFile(
        "NetCDF",
        _front(b"CDF\x01", b"CDF\x02", b"CDF\x05"),
        _UNREAD,
        "nccopy -k nc4 makes HDF5",
        ("nc",),
    ),
    KnownFile(
        "MATLAB data", _front(b"MATLAB 5.0 "), _UNREAD, "scipy reads it, as .npy for one", ("mat",)
    ),
    KnownFile(
        "a JSON text sequence",
        _front(b"\x1e{", b"\x1e["),
        _UNREAD,
        r"tr -d '\036' <FILE >NEW.json makes JSON of it",
        ("json-seq", "geojsons"),
        "--to ndjson writes its records without the marks between them",
    ),
    KnownFile("FITS", _front(b"SIMPLE  ="), _UNREAD, "astropy reads it", ("fits",)),
    KnownFile("DICOM", (((128, b"DICM"),),), _UNREAD, "pydicom reads it", ("dcm",)),
    KnownFile(
        "the header of a NIfTI pair",
        (((344, b"ni1\0"),), ((4, b"ni2\0\r\n\x1a\n"),)),
        *_PAIR,
    ),
    KnownFile(
        "the header of an Analyze pair",
        (((0, b"\x5c\x01\0\0"), (38, b"r")), ((0, b"\0\0\x01\x5c"), (38, b"r"))),
        *_PAIR,
    ),
    KnownFile("HDF4", _front(b"\x0e\x03\x13\x01"), _UNREAD, "h4toh5 makes HDF5", ("hdf4",)),
    KnownFile("GRIB", _front(b"GRIB"), _UNREAD, "grib_to_netcdf makes NetCDF", ("grib", "grb")),
    KnownFile("NRRD", _front(b"NRRD000"), _UNREAD, "pynrrd reads it", ("nrrd",)),
    KnownFile("SPSS data", _front(b"$FL2", b"$FL3"), _UNREAD, "pandas.read_spss reads it"),
    KnownFile(
        "Stata data", _front(b"<stata_dta>"), _UNREAD, "pandas.read_stata reads it", ("dta",)
    ),
    KnownFile("UTF-16 text", _front(b"\xff\xfe", b"\xfe\xff")),
)

#: Text that is told otherwise than by its first bytes.
HTML = KnownFile(
    "HTML",
    (),
    _NO_DATA,
    "pandas.read_html reads its tables",
    ("html", "htm"),
    "--to csv writes a table of which pandas makes it",
)
SQL = KnownFile(
    "SQL",
    (),
    _NO_DATA,
    "sqlite3 NEW.sqlite <FILE makes a database of it where it is SQLite's, which is read",
    ("sql",),
    "--to sqlite writes a database, sqlite3 FILE .dump its SQL",
)
GRON = KnownFile(
    "gron's lines",
    (),
    _NO_DATA,
    "gron --ungron <FILE makes JSON of it",
    ("gron",),
    "--to json writes what gron reads",
)
INI = KnownFile(
    "INI or properties",
    (),
    _UNREAD,
    _jc("ini"),
    ("ini", "properties", "cfg", "conf"),
    "--to toml writes what is nearest",
)
_UNEXPORTED = "sed 's/^export //' <FILE | jc --ini >NEW.json makes JSON of it"
EXPORTS = KnownFile("variables of a shell", (), _UNREAD, _UNEXPORTED)
LOGFMT = KnownFile(
    "logfmt",
    (),
    _UNREAD,
    'python3 -c \'import json,shlex,sys; [print(json.dumps(dict(w.partition("=")[::2]'
    " for w in shlex.split(s)))) for s in sys.stdin]' <FILE >NEW.ndjson makes NDJSON of it",
    ("logfmt",),
)
LOG = KnownFile("the log of a web server", (), _UNREAD, _jc("clf"), ("log",))
MARKDOWN = KnownFile(
    "a table of Markdown",
    (),
    _UNREAD,
    _jc("asciitable"),
    ("md", "markdown"),
    "--to csv writes a table of which csvlook makes it",
)
CARDS = KnownFile("iCalendar or vCard", (), _NO_DATA, _PACKED, ("ics", "vcf"))

LFS = KnownFile(
    "a pointer of Git LFS",
    (),
    "it stands for a file that is not here",
    "git lfs pull brings that",
)

#: Below comments and blank lines, a statement of those with which dumps begin.
_SQL = (
    rb"(?i)(?:\s|--[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/;?)*+"
    rb"(?:CREATE\s+(?:TABLE|DATABASE|SCHEMA|VIEW|(?:UNIQUE\s+)?INDEX)|INSERT\s+INTO|DROP\s+TABLE"
    rb"|BEGIN\s+TRANSACTION|PRAGMA\s+\w+\s*+=|SET\s+[@\w.]+\s*+=)"
)
#: Comments and blank lines; the name of a section, of git's too; a key and its value.
_APART = rb"(?:[ \t]*(?:[;#!][^\n]*)?\n)*+"
_SECTION = rb"\[(?:[^]\n\"]+|[\w.-]+ \"[^\"\n]+\")\][ \t\r]*\n"
_SETTING = rb"[A-Za-z][\w.*-]*[ \t]*=(?!=)"
#: A section and a key, or a key and another, a section, or nothing; keys of which one is exported.
_INI = (  # and no rows of keys with values, all of which have the same keys
    rb"(?!(\w+=)[^\n]*,\w+=[^\n]*\n\1)"
    rb"%(_)b(?:%(s)b%(_)b[ \t]*[A-Za-z][\w. -]*[=:]|%(k)b[^\n]*(?:\n%(_)b(?:%(k)b|%(s)b)|\n\Z))"
    % {b"_": _APART, b"s": _SECTION, b"k": _SETTING}
)
_EXPORTS = rb"%b(?:%b[^\n]*\n%b)?export %b" % (_APART, _SETTING, _APART, _SETTING)
#: A line of nothing but keys with values, of which there are several.
_LOGFMT = rb"(?:[A-Za-z][\w.-]*=(?:\"(?:[^\"\n\\]|\\.)*\"|[^\s\"=]*) ?+){2,}+\r?(?:\n|$)"
#: Patterns are compiled where text is looked at: that takes longer than a start may.
_TEXTS = (
    (HTML, rb"(?i)<!doctype html|<html"),
    (SQL, _SQL),
    (LFS, rb"version https://git-lfs\.github\.com/spec/"),
    (GRON, rb"(?m)json(?:(?:\.\w+|\[[^]\n]*\])++)? = .*;$"),
)
#: Text that a table of one column may be, too.
_LIKELY = (
    (LOGFMT, _LOGFMT),
    (INI, _INI),
    (EXPORTS, _EXPORTS),
    (LOG, rb"\S+ \S+ \S+ \[\d\d/\w{3}/\d{4}:[\d:]+ [-+]\d{4}\] \""),
    (MARKDOWN, rb"\|[^\n]*\|[ \r]*\n\|(?=[ :|]*-)[ :|-]*\|[ \r]*(?:\n|$)"),
    (CARDS, rb"BEGIN:V(?:CALENDAR|CARD)\r?\n"),
)


#: What joblib calls compressed, by default; ``x^`` may begin a text, too.
ZLIB = KnownFile(
    "zlib",
    (),
    _NO_DATA,
    "joblib.load reads it where joblib wrote it, pigz -dc unpacks any",
    ("zlib",),
)


_ALL = (*KNOWN, *(known for known, _ in (*_TEXTS, *_LIKELY)), ZLIB)


def known_file(head: bytes) -> KnownFile | None:
    """The kind of a file that begins with ``head``; None where its first bytes do not tell."""
    found = next((k for k in KNOWN if any(_fits(s, head) for s in k.signatures)), None)
    return ZLIB if found is None and _is_zlib(head) else found


def _is_zlib(head: bytes) -> bool:
    """Whether ``head`` begins data compressed by zlib (RFC 1950), as far as it goes."""
    if head[:1] != b"x" or int.from_bytes(head[:2], "big") % 31:
        return False
    import codecs
    import zlib

    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
        if set(_BINARY).isdisjoint(head):
            return False  # text, whose first bytes may be those of zlib's by chance
    except UnicodeDecodeError:
        pass
    try:
        return bool(zlib.decompressobj().decompress(head, 1))
    except zlib.error:
        return False


def known_text(text: bytes, *, is_table: bool = False) -> KnownFile | None:
    """The kind of text that begins with ``text``, of those that are no format; else None.

    ``is_table``: its name says that it is a table, which any text may be that is none of them for
    sure.
    """
    kinds = _TEXTS if is_table else (*_TEXTS, *_LIKELY)
    return next((known for known, pattern in kinds if re.match(pattern, text)), None)


def known_name(name: str) -> KnownFile | None:
    """The kind of file, of those that are no format, that people call ``name`` (``xlsx``); else
    None."""
    return next((k for k in _ALL if name in k.names), None)


def known_words(words: str | None) -> KnownFile | None:
    """The kind of file, of those that are no format, whose ``words`` these are; else None."""
    return next((k for k in _ALL if k.words == words and k.cannot), None)


def is_beyond_text(head: bytes) -> bool:
    """Whether ``head`` begins with a signature that no text has."""
    return head.startswith(_BEYOND_TEXT) or _is_zlib(head)


#: The signatures that no text begins with.
_BEYOND_TEXT = tuple(
    magic
    for known in KNOWN
    for signature in known.signatures
    for offset, magic in signature[:1]
    if offset == 0 and max(magic) > 0x7F
)

#: A signature of letters and digits with fewer bytes than this is believed only beside control
#: characters: text may begin so.
_SURE = 4
_BINARY = bytes(range(9))


def _fits(signature: Signature, head: bytes) -> bool:
    if not all(head.startswith(magic, offset) for offset, magic in signature):
        return False
    letters = b"".join(magic for _, magic in signature)
    return len(letters) >= _SURE or not letters.isalnum() or bool(set(_BINARY) & set(head))
