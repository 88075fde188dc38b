"""``python -m serialpack``."""

from serialpack.cli import main

main()
