"""Which serializer and codec suit some data, measured on it.

    from serialpack.bench import bench, FileSource
    results = bench(FileSource("data.json"), budget=20)
    print(results.recommendations[0].command)

How it measures: docs/measuring.md.
"""
