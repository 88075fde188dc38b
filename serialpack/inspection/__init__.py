"""What a file is, without unpacking it.

Enter at ``inspect.inspect_source``; what it finds is in ``info``. ``look`` judges a file that is no
container by its first bytes, ``listing`` tells the entries of a tar or a zip, ``datasets`` what is
in HDF5 and databases, ``archived`` the entries of our own archives.
"""
