"""Tables as they are found, of which there are golden files."""

from __future__ import annotations

#: What they are.
WORDS = {
    "utf-16": "CSV in UTF-16 with a byte-order mark",
    "escapes": "CSV in another encoding, with escaped quotes and no header",
}

#: Name -> format and bytes.
TABLES: dict[str, tuple[str, bytes]] = {
    "utf-16": (
        "csv:semicolon+utf-16-le",
        ("\ufeffid;Straße\r\n" + "".join(f'{n};"a ""q""; Łódź"\r\n' for n in range(60))).encode(
            "utf-16-le"
        ),
    ),
    "escapes": (
        "csv:cp1252+escaped+no-header",
        b"".join(b'%d,"a \\"q\\" \\\\ \xe9, %d"\n' % (n, n) for n in range(60)),
    ),
}
