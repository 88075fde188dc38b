"""What people are told of the work: while it is done, and once it is.

One module for each thing that is told; none decides what is done, or how a command ends.

- ``say``: a line for people or of ``--json``, whatever it is about
- ``bars``, ``progress``, ``stage_times``, ``profile``: how far it is, and where the time goes
- ``tally``, ``converted``, ``salvage``, ``far``: of many files, of conversions, of damaged
  containers, of storage that is not here
- ``journal``, ``journal_sums``: the lines of ``--json`` in a file, and their sums
- ``inspected``, ``shapes``, ``listings``: what ``inspect`` found, of a container and of any other
  file, and what is in an archive
"""
