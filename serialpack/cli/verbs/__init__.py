"""The verbs: ``pack``, ``unpack``, ``inspect`` and ``bench``.

Enter at the module of that name: it declares the options and examples, and makes a request of what
is given. Where the work is more than a call of the library it stands beside it: ``packing``,
``unpacking``, ``benching``; of ``unpack`` also ``convert`` (``--to``), ``tables_apart`` and
``stores``, of ``inspect`` ``heads``, ``stage_list`` and ``stores``. ``app`` imports a verb when it
is called for.
"""
