"""Any format to any other: the same, carried in another shape and told, or lost as named.

Enter at ``files.convert`` for files, at ``routes.stream.convert_stream`` for what is between:
blocks of records are read (``sources.reading``), written in the target (``blocks``, ``tables``) and
joined (``targets.joining``), each proved. ``losses.rules`` says what becomes of which values,
``targets.verdicts`` of each kind in each target; ``sources.content`` finds what a source is,
``sources.normalizing`` how a CSV file is written, ``listed`` all that a refusal is of.

- carried: all content is there, in a type or shape that the target has; turned back by options
- loss: what a target does not hold, changed by a rule that ``--lossy`` names (``losses``)
- tag: how ``--tagged`` writes a value that JSON has no words for (``tagging``)
- structure: whether records are a document, the elements of an array, the members of a map, or
  one after another
- plan: what workers are told of a source and a target (``plan.ConversionPlan``); of a member that
  is packed, ``pipeline.plan.Plan``: a chain and a style, with hardly a word in common
- left out: a broken record under ``--skip-bad``
"""
