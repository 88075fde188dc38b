"""SQLite databases: the rows of one table or view, by the standard library.

Enter at ``sqlite``, which declares the format. ``database`` opens what is there, read-only, and
gives its rows, by the tables and views that ``schema`` finds; ``rows`` has them as bytes, which
blocks are made of; ``write`` makes databases; ``unwritten`` tells of what is not in them yet.

- declared type: what ``CREATE TABLE`` says of a column. It is a wish: each value has its own type
- affinity: what SQLite makes of it: into which type it turns values where it can
"""
