"""The version: its only home. The build reads this file without importing it."""

__version__ = "0.1.0"
