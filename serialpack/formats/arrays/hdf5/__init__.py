"""HDF5: datasets and groups in one file, which the library that made the format reads (h5py).

Enter at ``hdf5``, which declares the format, or at ``reader``, by which every file is read: in a
process of its own, since the library breaks down over some that are damaged, or works without end.
There ``child`` runs. ``tree`` finds what is in a file, ``types`` says what of its types an array
holds, ``streams`` makes .npy and .npz files of datasets, or rows of MessagePack, ``attributes``
does so of attributes, and ``listed`` tells of each; ``chunked`` reads by the chunks that are there,
``odd`` types that h5py does not read, and ``lzo`` undoes what PyTables did. ``written`` makes files
of arrays, without such a process. ``names`` says what all are called.

- dataset: an array in the file, called by the names of its groups too: ``group/name``
- chunks: equal blocks of a dataset, stored one by one, each after its filters
- attribute: a small array beside a dataset or a group: ``group/name@unit``, ``group@unit``
"""
