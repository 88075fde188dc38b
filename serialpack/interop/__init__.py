"""serialpack within other libraries: as a codec of numcodecs, and between processes.

Enter at ``numcodecs.SerialpackCodec``, which Zarr finds by its name, and at
``multiprocessing.Packed``.
"""
