"""TOML 1.0 (https://toml.io).

Enter at ``toml``, which declares it. ``read`` is the standard library's tomllib, with an error
for what that drops; ``write`` is tomli-w, in the order of the keys.

- table: a map; array of tables: a list of maps
"""
