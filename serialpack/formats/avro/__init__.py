"""Avro's object container files (https://avro.apache.org/docs/1.12.0/specification/).

Enter at ``avro``, which declares it. ``file`` takes files apart and puts them together, ``skim``
goes over binary data before fastavro is let near it, ``types`` makes a schema for given records.

- schema: what the records are, as JSON in the file's header
"""
