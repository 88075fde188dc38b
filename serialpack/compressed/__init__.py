"""Files that another tool compressed, read as what is in them: ``source.decompressed``."""
