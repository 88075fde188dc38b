"""Which serializer and codec suit some data, measured on it.

    from serialpack.bench.run import Bench, Question
    results = Bench(Question("data.json", budget=20)).run()
    print(results.recommendations[0].command)

How it measures: docs/measuring.md.
"""
