"""A container as the sequence of its records.

Enter at ``sequence.open``, which is ``serialpack.open``. ``units`` finds the blocks of a container,
``loaded`` reads the records of one when they are asked for, ``arrays`` gives fields of all records
as NumPy arrays, and ``document`` the one value of a file that is a document.

- unit: a block, with its records as far as they were read
"""
