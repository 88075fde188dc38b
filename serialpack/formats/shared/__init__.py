"""What families of formats share.

Enter at ``split.split_records`` for streams of records, at ``document`` for formats that a
library reads and writes whole, at ``lines`` for records that are lines, at ``filed`` for
formats that look wherever they must in a file.

- boundary: where a record ends and the next begins
- marks: what a reader could not hold, and changed because ``--lossy`` says so
- unheld: what a source says and no value of Python holds
- depth: how many containers stand within each other
"""
