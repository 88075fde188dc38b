"""Archives: many files, folders and links in one container, and back below a folder.

Enter at ``pack_archive`` and ``unpack_archive``. ``gather`` puts small files of one format into
blocks that they share, ``write`` makes the members, ``read`` restores them, ``place`` puts what is
restored below the folder, ``left`` gives back what is left of a damaged one, ``entry`` one file,
or a part of it.

- entry: a file, a folder or a link of an archive
- to share: small files stand in one block, whose header says which; larger ones are members
- closing member: the last one, with folders and links, and the number of members before it
"""

from serialpack.archive.read import is_archive as is_archive
from serialpack.archive.read import unpack_archive as unpack_archive
from serialpack.archive.write import PackOptions as PackOptions
from serialpack.archive.write import pack_archive as pack_archive
