"""The one main line: a source to a container, block by block, and back.

Enter at ``pack.pack_stream`` and ``unpack.unpack_stream``. ``line`` runs the blocks of a source,
also those that are converted; ``blocks`` takes one through serializer, filters and codec, with
the proof of ``reading`` and ``writing``; ``workers`` does so in threads and ``processes`` in
processes, in order; ``ranges`` and ``fields`` read a part; ``small`` is the short way for
messages.

- plan: what a worker is told, small enough to be sent to a process. There are two, ``blocks.Plan``
  of a container's member and ``conversion.plan.ConversionPlan``: a header says the one, a user the
  other, and the main line reads neither; it is given what makes a worker (``workers.MakeWorker``)
- proof: what was made is undone and compared, before it is written
- exact: the very bytes of the source come back
"""
