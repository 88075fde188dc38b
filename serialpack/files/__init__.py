"""Files: opened, found in folders, and written whole or not at all.

Enter at ``source.Source`` to read what a caller names, at ``targets.sink`` to write there,
and at ``folders`` for what is below a folder.

- source: a file, pipe, buffer or URL that is read; ``peek`` looks at its beginning
- output: a file that appears under its name when all of it is there (``disk`` brings it there)
- target: what a caller names to be written to: an output, a device, an open file, a URL
"""
