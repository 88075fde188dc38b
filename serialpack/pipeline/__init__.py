"""The main line: a source becomes a container, block by block, and a container its source again.

Enter at ``pack.pack_stream`` and ``unpack.unpack_stream``. The modules, by what they are about:

- what is asked for: ``packing`` (header and plan of a member), ``plan``, ``settle`` (the choice of
  ``auto``)
- one block: ``blocks`` takes it through the chain and back; ``writing`` and ``reading`` are its
  serializer's half with the proof, ``parts`` and ``squeeze`` that of filters and codec, ``wide``
  one large record piece by piece, ``digest`` the checksum over all blocks
- many blocks at a time: ``line``, by threads (``workers``) or processes (``processes``); ``timing``
  has the seconds, ``expected_size`` the total for a progress bar
- small things, which have a shorter way: ``short`` for files, ``small`` and ``writers`` for objects
- only a part of a container: ``ranges`` (records, bytes), ``fields`` (columns), ``stored`` (bytes
  from any place, by ``pread``), ``outline`` (what an object holds, by ``buffer_places``),
  ``in_place``
- a damaged container: ``salvage`` and ``salvage_workers``, with ``seekable``, ``rejoin`` and
  ``lost``
- archives: ``shared`` restores blocks that several entries share

The words:

- plan: all that a worker must know, small enough to be sent to a process. There are two: a header
  says ``plan.Plan``, of a container's member; a user says ``conversion.plan.ConversionPlan``. The
  main line looks into neither: it is given a function that makes a worker (``workers.MakeWorker``)
- proof: what was made is undone and compared with what it was made of, before it is written
- exact: the very bytes of the source come back
- keeps: a chain keeps a source where its serialized bytes are those of the source
- settings: what a serializer is told beside its parameters, as a schema; kept in the header
"""
