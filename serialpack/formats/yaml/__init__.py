"""YAML.

Enter at ``yaml``, which declares it. ``split`` finds where documents begin, ``read`` makes values
of the parser's events in bounded depth and size, ``scalars`` says what plain text means, ``write``
makes text that no reader takes for other values, and ``misread`` finds text that the parser does.

- plain: text without quotes, whose meaning depends on what it looks like
"""
