"""Records in key-value stores: SQLite, LMDB, Tokyo Cabinet; each value readable on its own.

Enter at ``mapping.store``, a mapping of Python; at ``new.NewStore`` to write many values into a
store that appears whole; at ``export.StoreStream`` to read a store as a file of records.
``base.KeyValueStore`` is what a store promises: bytes under bytes, written in transactions. To add
one: a class in a file here, and a line in ``registry.py``.

- URL: ``sqlite-kv://people.db``, the name of a store's kind before the path of its file
- key: text, or an integer of 64 bits. As bytes (``keys``) text is UTF-8, an integer is 0xFF and its
  8 bytes, the most significant first, plus 2**63: no text has that byte, and numbers keep their
  order. Empty text, which not every store takes, is 0xFE
- header record: under a key that is neither, what is needed to read every value: its version, the
  chain, the serializer's settings, the shared dictionary, and whose the keys are: the mapping's
  own, the numbers of records or a field's (``header``)
- value: what the chain's serializer wrote for one value, through filters and codec, with its size
  before and a checksum behind (``values``). The checksum is over the key too: a value under
  another's key is found out
- shared dictionary: of zstd, trained on the first values that are written together, and kept where
  it saves more than it takes; with it small values alike shrink as if they stood in one file

A value is proved before it is written: it is undone, and compared. What is written together is one
transaction: a writer that is killed leaves all of it or nothing. A new store is made in a hidden
file, which gets its name once it is whole.
"""
