"""Which filters, codec and blocks suit an array of numbers: tried on samples of it.

Numbers beside each other, in a row or in the next one, are alike: their differences are small, and
bytes or bits of equal weight are then alike among themselves. Which of that pays differs from
array to array, and each may hurt. What comes again farther off than a sample is long is looked for
in all of a block; of what is nearly all runs more is tried.

Enter at ``choice.chosen``. It has ``for_layout`` try chains on ``samples`` (``trial``), after a
quick ``look``; ``slower``, ``scale`` and ``recurring`` find what takes longer to find.

- lag: how many numbers on a neighbour is, in a row, the next row, the next plane
- way: differences to neighbours, and the filters after them; ``PLAIN`` has neither
- share: what is left of the samples' bytes, from 0 to 1
"""
