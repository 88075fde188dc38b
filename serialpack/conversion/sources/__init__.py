"""The source of a conversion: what is in it, as bytes of a format whose records are read.

Enter at ``content.content_of``, which finds whether a source is a file of a format or a container
of one, and gives what is read of it. On the way ``normalizing`` makes text that is written as
others do the usual CSV or JSON in UTF-8, ``datasets`` makes arrays of the datasets of HDF5 and the
entries of archives, and ``objects`` makes files of Python's objects. ``restored`` keeps what a
container was restored to for a second reading. ``reading.SourceReader`` reads the records of each
block, and proves that none of it was lost; ``fields.Projector`` takes only some fields of them.

- content: what of a source is converted: bytes in one format, and the plan by which they are read
- made: what is read is no bytes of the source, but a file that was made here of its values
"""
