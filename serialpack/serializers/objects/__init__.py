"""The serializer ``objects``: Python's objects as MessagePack with extensions, safe to read.

Enter at ``objects.ObjectsSerializer``. Messages are written by ``write``, in the ``passes`` that
takes, read by ``read``, and told to people by ``_outline``; ``_extension_table`` has every
extension of ``man/spk.5``: how a value is made of its parts, and how it is told.

Whose values they are: Python's own types (``_own_types``, and of these ``_time_zones``,
``_regex_fraction`` and ``_generics``), objects of the user's classes (``_own_classes``, by
``_class_names``), arrays of NumPy (``arrays``, ``_numpy_types``), and of a library each
``of_numpy`` (with ``_numpy_random``), ``of_pandas``, ``of_arrow``, ``of_polars``, ``of_scipy``,
``of_xarray`` and ``of_pydantic``. ``_grouping`` finds many small values that are written together,
whose extensions ``columns`` and ``_alike`` have; by a few items of a value ``guessed`` finds
whether that is worth it. ``_referred`` has what is written once. ``_msgpack_mistaken`` finds what
msgpack-python would take for something else.

- parts: what an extension holds, in order, each a value that MessagePack has or an extension
- beside: of a large buffer, stored behind the message and not in it
- own: of Python's own types, or of the user's classes; not of a library
"""
