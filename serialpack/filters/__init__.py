"""The filters: bytes to as many bytes that compress better, and back.

Enter at ``FILTERS``, which makes a filter by its name; ``base.Filter`` is the contract. One file a
filter. To add one: a class in a file here, and a line in ``stages/registry.py``.

- item size: of how many bytes each number of an array is
"""

from __future__ import annotations

from serialpack.filters.base import Filter
from serialpack.stages import registry
from serialpack.stages.stage import Registry

FILTERS: Registry[Filter] = registry.FILTERS
