"""Records as columns, byte-exactly: pure functions on bytes, which know no container."""
