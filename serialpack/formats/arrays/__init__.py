"""Arrays of numbers: .npy files, and how NumPy spells the type of an item.

Enter at ``npy``, which declares the format. ``header`` reads what stands before the items, without
NumPy; ``types`` makes a type of what stands there; ``values`` makes Python's values of items.

- item: what stands at one place of an array; a number, or a record of several
- row: all items with the same first index; each row is a record
"""
