"""Python objects in containers: ``serialpack.dump``, ``dumps``, ``load`` and ``loads`` are here.

The first two are in ``dumping``, the others in ``loading``. ``files`` has files that are one object
to Python (an array, a document); ``lazy`` the arrays that are mapped, or of which only what a slice
touches is read.
"""
