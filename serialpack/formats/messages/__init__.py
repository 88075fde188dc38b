"""What formats of messages share: MessagePack and CBOR, whose files are messages one after another.

Enter at ``format.MessageFormat``, which each of the two formats makes its own by ``scan`` (where
values end) and ``opening`` (how an array or a map begins). ``finder`` cuts a source between
messages, ``parts`` large ones within; ``long_bytes`` finds images and the like in them.

- message: a value with nothing around it, as MessagePack and CBOR have them; one record
- head: the first bytes of a value, which tell its kind and its length
- opening: the head of an array or a map, and how many elements or members it announces
- break code: the byte behind the last element of an array of CBOR that announces no number
"""
