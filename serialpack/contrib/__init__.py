"""serialpack within other libraries: Dask, numcodecs, and between processes.

Enter at ``dask.read``, at ``distributed``, which has its messages serialized, at
``numcodecs.SerialpackCodec``, which Zarr finds by its name, and at ``multiprocessing.Packed``. Each
is what the other library asks for, around ``open``, ``dumps`` and ``loads``; nothing else imports
it, and it imports a library that need not be there.
"""
