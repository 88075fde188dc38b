"""Typed XML: values of any kind as elements that say their type.

Enter at ``xml``, which declares it and says what the elements are. ``read`` makes values of them,
without entities or references to anything outside; ``write`` makes text of values.

- element: one value, with its type as its name
"""
