"""The choice of stages, and its reason: what ``auto`` does.

Enter at ``choice.choose``, before anything of the source is known, and ``choice.settle``, with its
first bytes. ``records`` tries columns on a sample, ``arrays`` filters on samples of numbers;
``raw_numbers`` finds these in files that do not say that they hold any, ``few_numbers`` tries a few
filters where an object has few, ``slow_codecs`` tries others beside zstd where only size counts,
``extents`` gives each large value of an object a chain of its own. ``items`` has the sizes of items
that stages are named without. ``worth`` says of a block whether it is worth its codec.
"""
