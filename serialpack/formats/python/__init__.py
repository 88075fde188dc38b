"""Pickles, marshal data and objects of the Python API.

Enter at ``pickle``, ``marshal`` and ``object``, which declare them; ``untrusted`` is what pickle
and marshal share: bytes are told by a look (``opcodes``, ``typecodes``), and loaded on trust
only.

- buffer: large bytes beside a pickle, which stays small (PEP 574); ``buffers`` has both in one
  frame
"""
