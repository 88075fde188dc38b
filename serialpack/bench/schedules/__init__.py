"""Decides which combinations are measured, in what order, within a budget of seconds.

Enter at ``schedule.Schedule``, of which there are three: ``one_search.OneSearch`` looks for what
suits one source, ``several_search.SeveralSearch`` for what suits several files (``search`` has what
both do, ``highest`` how they look at what ``pack -9`` chooses), and ``fixed.FixedSchedule``
measures the chains that it is given, at one N or at several.

- what may be measured: ``candidates`` (chains), ``sweep`` (N), ``combination``
- what becomes of it: ``rows``

The words:

- combination: a chain, a number of threads, a size of blocks, and in a sweep an N
- budget: the seconds that measuring may take; reading the source is not counted
- look, sample, whole: three rounds of a search. Only what did well in one comes into the next
- leader: the first serializer that can hold the source; behind it all codecs are tried
"""
