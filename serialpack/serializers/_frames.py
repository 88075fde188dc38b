"""Room for calls within calls, as formats need it too."""

from __future__ import annotations

from serialpack.formats._frames import frames_for as frames_for
