"""The limit on how deep values may be nested, checked before a library is given them.

Most libraries recurse, a call for each level. At which depth that fails is not theirs to say:
Python stops C code at another depth in each version, or only when the stack of a thread is full,
which ends the process. So serialpack has a limit of its own, ``MAX_DEPTH``, the same for every
serializer and format, and checks it first. Each check raises ``TooDeep``:

- of values in memory: ``values.check_values``, and of an object that is to be written whole
  ``places.check_places``, which also finds what would be written far too often (``HeldOften``)
- of bytes that a recursive library is to read: ``check_json``, ``check_messages`` (MessagePack) and
  ``check_documents`` (BSON), which look at the bytes without making values

Readers that are serialpack's own, and libraries that take a limit, count levels as they read.

- level: a list, map, tuple or set, empty or not, or an object that holds one of these. The list in
  which records are handed around counts for nothing: it is part of no record
"""

from serialpack.depth._json import check_json as check_json
from serialpack.depth._json import json_depth as json_depth
from serialpack.depth._limit import MAX_DEPTH as MAX_DEPTH
from serialpack.depth._limit import TOO_DEEP as TOO_DEEP
from serialpack.depth._limit import HeldOften as HeldOften
from serialpack.depth._limit import TooDeep as TooDeep
from serialpack.depth._limit import says_depth as says_depth
from serialpack.depth._messages import check_messages as check_messages
from serialpack.depth.bson import check_documents as check_documents
