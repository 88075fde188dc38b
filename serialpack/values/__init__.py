"""What a value is: its kinds, when two are the same, where they differ.

Enter at ``equality.difference``, the strict comparison, and ``kinds.KINDS``, the kinds of values
that stages and formats may not hold. ``quick_equality`` finds most pairs the same at the speed of
C, ``parts`` says what a value is made of, ``kind_of`` of which kind it is, ``structure`` how
records make up a document. Of objects, ``attributed``, ``derived``, ``models`` and
``instance_dict`` say what they keep, ``pickled_state`` whether their class tells pickle all of it,
``kept_in_c`` what C code has of them, ``aliasing`` whether a part stands in several places. Values
of their own: ``arrays``, ``masks``, ``durations``, ``nanoseconds``, ``missing``, ``yaml_tags``;
``multiples`` says of what floats are.

- kind: a value type, or a property of a value, that somebody may not hold: ``bigint``,
  ``nan-bits``, ``duplicate-keys``, ``order``; a type alone does not say it
- same: of one type and with the same parts, in the same order, to the last bit
- difference: "not the same", wherever it is found: a place in a record, what was there and what
  became of it (``kinds.Difference``), which a proof returns and a refusal tells; in names also
  ``lost``, after what was written and read again
- unheld: not representable, told of one value by its difference (``Unheld``)
- loss: differences that a rule of ``--lossy`` lets go, counted (``Loss``)
"""
