"""CSV and TSV.

Enter at ``csv``, which declares both. ``text`` makes records of lines, maps from the header's
names to text; ``rows`` splits lines into fields, and joins them as the source had them (RFC
4180).

- header: the first line, whose fields are the keys of every record
"""
