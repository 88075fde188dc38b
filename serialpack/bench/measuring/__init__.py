"""Measures one chain at a time on data in memory, or from file to file, in a process of its own.

Enter at ``lab.Lab``: ``ask`` has a job done in the process that measures. The modules:

- the process: ``lab``; the jobs that it does, and what they are done on: ``workbench``
- what is timed: ``trials`` (blocks, as ``pack`` has them), ``object_trials`` with ``object_part``
  (one Python object), ``disk`` (from file to file); as auto chooses: ``by_auto``
- beside the seconds: ``memory`` (the peak), ``estimate`` (the figures of many files from some),
  ``anchors`` (a copy of memory, and stock tools, to compare rows with)

The words:

- trial: one chain on one material, whole or a part of it
- figures: what a trial found: sizes in bytes, times in seconds
- care: how often something is run, and whether its memory is measured
- part: so many bytes of the material; a *look* is at little of it, a *sample* at about a megabyte
"""
