"""Whether a zip is an archive of arrays, by how it begins."""


def is_npz(head: bytes) -> bool:
    """Whether a zip begins with an array: NumPy's archives have nothing else."""
    length = int.from_bytes(head[26:28], "little")
    return head[30 : 30 + length].endswith(b".npy")
