"""Arrays of numbers: .npy files, archives of them, volumes; how NumPy spells the type of an item.

Enter at ``rows.ArrayFormat``, what is the same for a file of one array, or at ``npy``, ``npz``,
``nifti`` and ``mrc``, which declare the formats. ``header`` and ``volumes`` read what stands before
the items, without NumPy, and ``kinds`` whichever of them it is; ``zipped`` finds arrays in a zip.
``types`` makes a type of what stands there, ``values`` Python's values of items, ``made`` arrays of
values, and ``extremes`` finds the least and the greatest. ``layout`` says which numbers lie beside
which, for filters; ``places`` which items an index picks. ``hdf5`` has many arrays in a file.

- item: what stands at one place of an array; a number, or a record of several
- row: all items with the same first index; each row is a record
"""
