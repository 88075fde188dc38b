"""JSON and NDJSON.

Enter at ``json.JsonFormat`` and ``ndjson.NdJsonFormat``, which share ``text``. ``split`` finds the
elements of a document, with ``scan``; ``parse`` makes values of text, fast or strictly; ``style``
learns how a text was written and ``write`` writes so; ``compare`` is the judge of "the same
values". ``loose`` makes JSON of what people write (JSON5), ``lossy`` notes what values cannot hold;
``join``, ``parts`` and ``keys`` are for large files and records.

- strict: with every key, digit and sign of zero as the text has them
- engine: a library that writes JSON (msgspec, the standard library)
"""
