"""Run by every Python that has this folder on its path: it has the stages of planted_stages.py."""

import importlib

importlib.import_module("planted_stages").plant()
