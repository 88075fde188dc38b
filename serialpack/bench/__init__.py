"""Which serializer and codec suit some data, measured on it. How it measures: docs/measuring.md.

    from serialpack.bench.run import Bench, Question
    results = Bench(Question("data.json", budget=20)).run()
    print(results.recommendations[0].command)

Enter at ``run.Bench``, or for ``--store`` at ``stores.measure_stores``. By what they are about:

- what is measured: ``material``, ``samples`` (built-in data), ``several`` (the choice among many
  files)
- which chains are measured, and in what order: ``schedules``
- how one chain is measured: ``measuring``
- what was found: ``results``, ``recommend`` (the rows to take), ``compare`` (with another run),
  ``reports`` (the forms in which people read it), ``machine`` (where it was)

The words:

- source: the file, the files, the built-in sample or the objects that bench was asked about
- subject: how the source is described to the process that measures; material: what that then holds
- row: one combination of chain, threads, size of blocks and N, with what was measured of it
- front: the rows that no other row beats in size and in time (Pareto)
- anchor: something well known beside the rows: a copy of memory, a stock tool
- sweep: the same chains measured at several N; N: a number of records, or what a sample counts
"""
