"""The verbs: ``pack``, ``unpack``, ``inspect`` and ``bench``.

Enter at the module of that name: it declares the options and examples, and makes a request of what
is given. Where the work is more than a call of the library it stands beside it, and ``app`` imports
a verb when it is called for:

- of ``pack``: ``packing``, and ``dictionary`` (``--shared-dict``)
- of ``unpack``: ``unpacking``, ``convert`` (``--to``), ``joining`` (several inputs as one table),
  ``tables_apart`` (a database as a file for each table), ``stores`` (into and out of key-value
  stores)
- of ``inspect``: ``inspecting``, ``heads`` (``--head``), ``stage_list`` (``--stages``), ``stores``
- of ``bench``: ``benching``, and ``seconds_per_file``, which it measures of many files
"""
