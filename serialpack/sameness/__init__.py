"""What the comparison of values rests on: their parts, and a quick look at all of them."""
