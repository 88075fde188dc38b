"""Records in key-value stores (SQLite, LMDB, Tokyo Cabinet): each value can be read by itself.

Enter at ``mapping.store``, which is ``serialpack.store``, a mapping of Python; at ``new.NewStore``
to write many values into a new store; at ``export.StoreStream`` to read a store as a file of
records; at ``facts.facts_of`` for what ``inspect`` tells. ``base.KeyValueStore`` says what each
kind of store must do: keep bytes under keys of bytes, in transactions. To add a kind: a class in a
file here, and a line in ``registry.py``.

- URL: ``sqlite-kv://people.db``, the name of the kind and the path of its file
- key: text, or an integer of 64 bits. ``keys`` turns it into bytes: text into UTF-8; an integer,
  plus 2**63, into 0xFF and 8 bytes, the most significant first, so that numbers keep their order
  and no text has the same bytes; the empty text, which not every store takes, into 0xFE
- header record: the value of a key that is neither text nor integer. It has all that is needed to
  read the values (``header``): version, chain, settings of the serializer, shared dictionary, and
  what the keys are: the mapping's own, the numbers of records, or the values of a field
- value: what the serializer made of one object, through filters and codec, with its size before it
  and a checksum behind it (``values``). The checksum covers the key, too: a value that was moved to
  another key is noticed
- shared dictionary: of zstd, trained on the first values that are written together, and kept if it
  saves more than it takes. With it, small values that are alike shrink as if they stood in one file

A value is proved before it is written: it is read back and compared. What is written by one call is
one transaction: if the writer is killed, all of it is there or nothing. A new store is made in a
hidden file, which gets its name when it is whole.
"""
