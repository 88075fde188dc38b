"""From a text to its structure and the values of its columns, and back.

Enter at ``shape``: ``split`` takes a text apart, ``join`` puts it together. Nothing is checked
here: any bytes have some tokens, and the caller compares what comes back with the text. Where there
is nothing to gain, or the text is nothing that columns suit, ``split`` gives None.

- JSON: ``json_tokens`` finds the values, ``json`` makes the walk, ``json_paths`` tells where values
  belong, by reading the gaps
- MessagePack: ``msgpack_tokens``, ``msgpack`` and ``msgpack_paths`` do the same;
  ``msgpack_numbers`` turns numbers to decimal text and back
- CSV, TSV: ``csv`` does it all
- ``nodes``: what the three have in common: nodes, kinds of values, paths

The words:

- kind: of a value: a string, a scalar, or one of which the kind says all, such as null (``nodes``)
- path: the keys and brackets on the way from the record to a value
- outline: for each node its path, and where records begin and end; made only when it is needed
- leaf: a value that holds no other one; only these are values of the walk
- data key: a key that is data, as in a map of names to numbers: it is a value, and in no path
- tuple: a list whose elements each have a place, and a column, of their own
"""
