"""The choice of stages, and its reason: what ``auto`` does.

Enter at ``choice.choose``, before anything of the source is known, and ``choice.settle``, with its
first bytes. ``records`` tries columns on a sample, ``arrays`` filters on samples of numbers;
``raw_numbers`` finds these in files that do not say that they hold any, ``slow_codecs`` tries
others beside zstd where only size counts, ``extents`` gives each large value of an object a chain
of its own. ``worth`` says of a block whether it is worth its codec.
"""
