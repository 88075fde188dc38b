"""Tells which of the two libraries that install a module ``rapidjson`` is there."""

from __future__ import annotations

from serialpack.stages.stage import is_installed


def missing(distribution: str, extra: str) -> str | None:
    """None where the module is that of ``distribution``, else one line that says what to do."""
    found = installed()
    if found == distribution:
        return None
    install = f"pip install 'serialpack[{extra}]'"
    if found is None:
        return install
    return (
        f"{found} is installed, and both install a module rapidjson:"
        f" pip uninstall {found}, then {install}"
    )


def installed() -> str | None:
    """The distribution whose module is there: of both, the one that was installed later."""
    if not is_installed("rapidjson"):
        return None
    import rapidjson

    return "python-rapidjson" if hasattr(rapidjson, "Encoder") else "pyrapidjson"
