"""The files of a call: which there are, what each becomes, and how they are done.

Enter at ``begin.mover_of``: of inputs and a request it makes the ``mover.Mover``, to which a verb
gives what is to be done with one file. Around that it does all that is the same for each: outputs
that are there already, sources to be removed, journals, progress, what goes wrong.

- ``inputs``, ``outputs``, ``jobs``: the files to be read, their targets, and both in pairs
- ``batch``, ``fast_path``, ``workers``, ``cluster``: many files side by side, here or on a cluster
- ``rerun``, ``dry_run``: what an earlier run has done, what a run would do
- ``removal``: what ``--rm`` removes
- ``each_file``: files one after another; ``standard_streams``: ``-`` as one of them
- ``joined``: several outputs in one file;
  ``archiving``: the inputs of ``pack --archive``
- ``cluster_here`` starts the cluster of ``--scheduler local``
"""
