"""What all tests share."""

from __future__ import annotations

import gc
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from xdist.scheduler import Scheduling

# A busy machine is no failure. Each run of `make test` tries the same, so that what fails was
# broken by a change; `make test-all` looks for what nobody thought of, and so does
# --hypothesis-profile thorough, for long.
settings.register_profile("serialpack", deadline=None, max_examples=30, derandomize=True)
settings.register_profile("anew", deadline=None, max_examples=30)
settings.register_profile("thorough", deadline=None, max_examples=3000)
settings.load_profile("serialpack")

#: What Python itself ignores, and gives back to the children it starts.
_PYTHONS = {getattr(signal, name, None) for name in ("SIGPIPE", "SIGXFSZ")}


def _give_children_usual_signals() -> None:
    """Let children begin with the usual dispositions, whatever the caller of the tests ignores.

    A job in the background of a script is started with SIGINT ignored, one under nohup with
    SIGHUP, and children inherit that; a handler they do not. So what is ignored is answered by a
    handler that does nothing: the tests themselves go on as before.
    """
    for number in signal.valid_signals() - _PYTHONS:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_SETMASK, ())


_give_children_usual_signals()
os.umask(0o022)  # the usual one: modes of files are looked at

# Where a test limits memory, a library of Rust that wants to print a backtrace aborts.
os.environ["RUST_BACKTRACE"] = "0"


def pytest_make_parametrize_id(val: object) -> str | None:
    """Long ones are cut: pytest says them to every child in a variable of the environment, of which
    the system takes no more than 128 KiB."""
    if isinstance(val, bytes | str) and len(val) > _LONGEST:
        return f"{val[:_LONGEST]!a}, {len(val)} in all"
    return None


_LONGEST = 60


def pytest_collection() -> None:
    """Look for no garbage while the tests are gathered, of which nothing becomes any: that was a
    quarter of that time."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Leave what the tests are made of to no collection: twenty thousand of them took a second
    each time that one looked at all objects, which tests of depth do often."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Scheduling | None:
    from tests.distributed import ByFunction

    return ByFunction(config, log) if config.getoption("dist") == "loadgroup" else None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """In a process of xdist, where `--durations` wants no more of it, report less."""
    if not hasattr(item.config, "workerinput") or item.config.getoption("durations") is not None:
        return None
    from tests.distributed import run_and_report

    run_and_report(item, nextitem)
    return True


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real files and conformance suites; the test is skipped where it is absent."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("SERIALPACK_DATA", beside))
    if not folder.is_dir():
        pytest.skip(f"no {folder}: set SERIALPACK_DATA")
    return folder
