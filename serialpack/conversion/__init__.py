"""Any format to any other: the same, carried in another shape and told, or lost as named.

Enter at ``files.convert``, and at ``stores.convert_to_store`` for a key-value store. A conversion
goes through these, of which each imports only those after it:

- ``surveying`` looks at all records first, where the target must know them, and ``column_types``
  decides which columns of text get values; ``preview`` and ``refusals`` ask before a conversion
  what it would do, and after one what it would lose
- ``one_pass`` reads the source once, sends it along a route, and makes the report
- ``preparing`` opens the source, and makes the plan (``plan``) of what was asked (``options``)
- ``routes``: the ways from source to target: block by block, as a whole, or copied
- ``blocks`` converts one block of records, and proves it
- ``sources`` finds what is in a source, and reads its records
- ``targets``: who writes a format, what it needs, and the file that is written
- ``losses``: the rules by which values are changed that a target does not hold
- ``tagging``: values that JSON has no words for, as tags of Extended JSON (``--tagged``)

Below the plan stand ``types`` (values out of text) and ``tables`` (records of any shape as rows,
and back); those modules of ``tables`` that work by a plan stand above it (tests/test_layers.py).

- structure: whether records are a document, the elements of an array, the members of a map, or
  one after another
- plan: what workers are told of a source and a target (``plan.ConversionPlan``); of a member that
  is packed, ``pipeline.plan.Plan``: a chain and a style, with hardly a word in common
- left out: a broken record under ``--skip-bad``
"""
