"""Archives: many files, folders and links in one container, and back below a folder.

Enter at ``write.pack_archive`` and ``read.unpack_archive``; ``detect.is_archive`` costs little, and
nothing is imported here. ``names`` says which paths entries can have. ``gather`` puts small files
of one format into blocks that they share, in the order of ``beside``, ``copies`` finds larger ones
that are nearly copies of others and share blocks too. ``write`` makes the members, ``read``
restores them, ``extract`` puts what is restored below the folder, ``links`` symbolic links,
``salvage`` gives back what is left of a damaged one, ``entry`` one file, or a part of it.
``preview`` tells beforehand how files will be kept (``--dry-run``), ``not_kept`` what of them will
not be, ``compare`` whether an archive still is as its sources are.

- entry: a file, a folder or a link of an archive
- to share: small files stand in one block, whose header says which; larger ones are members, unless
  they are texts, programs, or nearly copies
- closing member: the last one, with folders and links, and the number of members before it
"""
