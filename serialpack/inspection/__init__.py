"""What ``inspect`` tells of a file: what it is and what is in it, without unpacking it.

Enter at ``inspect.inspect_source``, which returns an ``info.Inspection``.

- of a container: a ``MemberInfo`` for each member (``members``); of an archive also its entries
  (``archived``)
- of any other file: its ``Shape``, by its first bytes (``look``)
- of a file that holds named things, in a container or not: a ``Listing`` of them (``listed``), of a
  tar or a zip (``tar_zip``), of the datasets of HDF5 and the tables of a database (``datasets``)
"""
