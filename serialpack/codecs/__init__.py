"""The codecs: bytes to fewer bytes and back.

Enter at ``CODECS``, which makes a codec by its name; ``base.Codec`` is the contract. One file a
family. To add one: a class in a file here, and a line in ``stages/registry.py``.

- codec: a compressor with its level, as in ``zstd:3``
- bound: how a codec is kept from allocating more than was promised
"""

from __future__ import annotations

from serialpack.codecs.base import Codec
from serialpack.stages import registry
from serialpack.stages.stage import Registry

CODECS: Registry[Codec] = registry.CODECS
