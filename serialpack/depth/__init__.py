"""How deep values may be nested, and how deep they are: told before a library is given them.

Most libraries call themselves for each level. How deep that goes is left to nobody else: Python
stops C code at another depth in each version, or not before the stack of a thread is full. So the
limit is the program's own, the same for every serializer and format, and is looked at first:
``values.check_values`` of values, ``check_json``, ``check_messages`` and ``check_documents`` of
bytes whose readers recurse. Formats that are read here, or by a library that takes a limit, count
levels as they go.

A level is a list, map, tuple or set, empty or not, or an object that holds one of these. The list
of records, which no record is part of, is none.
"""

from serialpack.depth._json import check_json as check_json
from serialpack.depth._json import json_depth as json_depth
from serialpack.depth._limit import MAX_DEPTH as MAX_DEPTH
from serialpack.depth._limit import TOO_DEEP as TOO_DEEP
from serialpack.depth._limit import TooDeep as TooDeep
from serialpack.depth._messages import check_messages as check_messages
from serialpack.depth.bson import check_documents as check_documents
