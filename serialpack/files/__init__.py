"""Files: opened and read, found in folders, and written whole or not at all.

Enter at ``source.Source`` to read what a caller names, at ``targets.sink`` to write there, and at
``folders.Walk`` for the files below a folder, as ``globs`` and ``gitignore`` choose them.
``regular`` opens what was found to be a regular file and nothing else, ``paths`` makes names in
containers of paths and paths of these, ``not_kept`` tells what an output lacks of its source.

- source: a file, pipe, buffer or URL that is read; ``peek`` shows its first bytes without reading
  them
- output: a file that gets its name only when all of it is on the disk (``output``). Until then it
  has no name (``unnamed``) or a hidden one (``pending``); ``disk`` has the steps, ``uploads`` those
  for a URL
- target: what a caller names to be written to: an output, a device, an open file, a URL
- far: named by a URL (package ``far``)
"""
