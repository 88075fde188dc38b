"""serialpack within other libraries: as a codec of numcodecs, and between processes.

Enter at ``numcodecs.SerialpackCodec``, which Zarr finds by its name, and at
``multiprocessing.Packed``. Each is what the other library asks for, around ``dumps`` and ``loads``;
nothing else imports it, and it imports a library that need not be there.
"""
