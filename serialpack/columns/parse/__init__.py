"""Text to tokens: values, and what stands between them; and the walk through both.

Enter at ``shape``: ``split`` takes a block apart, ``join`` puts it together. For each format one
file makes tokens of bytes (``json_tokens``, ``msgpack_tokens``) and one a walk of tokens
(``json``, ``csv``, ``msgpack``). Nothing is checked here: any bytes have tokens, and a text that
would not come back is kept as text.

- token: the bytes of one value, or of what stands between two values
- path: the keys and brackets on the way from the root to a value
"""
