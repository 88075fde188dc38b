"""Generators of random numbers of NumPy: their states as parts of an extension, and back."""

from __future__ import annotations

from typing import Any

#: Generators of bits, and the words in their states that count what was used, with the most of it:
#: NumPy believes any number there.
_USED = {
    "MT19937": ("pos", 624),
    "PCG64": None,
    "PCG64DXSM": None,
    "Philox": ("buffer_pos", 4),
    "SFC64": None,
}

#: The most words that a seed is spread over: each is mixed with each, which takes time.
_LARGEST_POOL = 256


def parts_of_random(value: Any) -> list[Any] | None:
    """Name of the class and what makes the same again; None for what is no generator, nor a seed.

    TypeError for one with another seed than NumPy's.
    """
    import numpy as np

    kind, name = type(value), type(value).__name__
    if getattr(np.random, name, None) is not kind:
        return None
    if name == "SeedSequence":
        if value.pool_size > _LARGEST_POOL or not _is_plain(value.entropy):
            raise TypeError("a seed that is spread over many words, or of no numbers")
        return [name, value.entropy, *value.spawn_key, value.pool_size, value.n_children_spawned]
    if name == "Generator":
        return [name, value.bit_generator]
    if name == "RandomState":
        state = value.get_state(legacy=False)
        return [name, value._bit_generator, state["has_gauss"], state["gauss"]]
    if name not in _USED:
        return None
    seed = value._seed_seq
    if seed is not None and type(seed) is not np.random.SeedSequence:
        raise TypeError(f"a generator from a {type(seed).__name__}")
    return [name, value.state, seed]


def random_of(name: str, *parts: Any) -> Any:
    """What ``parts_of_random`` was given; ValueError, or what NumPy raises, where they are none."""
    import numpy as np

    if name == "SeedSequence":
        entropy, *key, pool, children = parts
        if not all(map(_is_plain, (entropy, key, pool, children))) or pool > _LARGEST_POOL:
            raise ValueError("a seed that is spread over many words, or of no numbers")
        return np.random.SeedSequence(
            entropy, spawn_key=tuple(key), pool_size=pool, n_children_spawned=children
        )
    if name in _USED:
        return _bits_of(name, *parts)
    bits, *gauss = parts
    if not isinstance(bits, np.random.BitGenerator):
        raise ValueError("a generator without its bits")
    if name == "Generator":
        return np.random.Generator(bits)
    if name != "RandomState" or not set(map(type, gauss)) <= {int, float}:
        raise ValueError(f"there is no generator {name}")
    made = np.random.RandomState(bits)
    made.set_state({**bits.state, "has_gauss": gauss[0], "gauss": gauss[1]})
    return made


def _is_plain(value: Any) -> bool:
    """Whether NumPy takes numbers from it without running code of a foreign class."""
    import numpy as np

    if type(value) is dict:
        return all(map(_is_plain, value.values()))
    if type(value) in (list, tuple):
        return all(type(item) is int for item in value)
    if type(value) is np.ndarray:
        return value.dtype.kind in "iu"
    return value is None or type(value) in (int, str)


def _bits_of(name: str, state: Any, seed: Any) -> Any:
    import numpy as np

    if seed is not None and type(seed) is not np.random.SeedSequence:
        raise ValueError("a generator with another seed")
    if type(state) is not dict or type(state.get("state")) is not dict:
        raise ValueError("a generator without its state")
    if used := _USED[name]:
        word, most = used
        found = state["state"]["pos"] if word == "pos" else state[word]
        if type(found) is not int or not 0 <= found <= most:
            raise ValueError(f"a generator that has used {found} of {most}")
    if not _is_plain(state):
        raise ValueError("the state of a generator with other values than numbers")
    made: Any = getattr(np.random, name)(0)
    made.__setstate__((state, seed))
    return made
