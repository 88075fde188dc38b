"""What a file is, as its name, its first bytes and the user say: enter at ``detect.told``.

``by_content`` tries the formats where these do not tell; ``encoded`` reads text in another encoding
than UTF-8. What is known of a format stands on its line in ``formats``, of kinds of files that are
none in ``formats.foreign``.
"""
