"""A container as the sequence of its records."""
