"""A container as the sequence of its records.

Enter at ``sequence.open``, which is ``serialpack.open``. ``units`` reads the records of one block
when it is asked for, ``arrays`` gives fields of all records as NumPy arrays.

- unit: a block, with its records as far as they were read
"""
