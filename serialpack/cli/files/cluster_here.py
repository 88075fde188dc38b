"""A Dask cluster that is started here, for ``--scheduler local``, and ends with the command."""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import Any

from serialpack.cli.signals import SIGNALS
from serialpack.errors import FileError, SerialpackError
from serialpack.hidden import temporary_folder
from serialpack.pipeline.processes import MEMORY
from serialpack.text import error_words
from serialpack.unstarted import WorkerNotStartedError

#: The word for a cluster that is started here, and ends with the command.
LOCAL = "local"

#: Where dask is told the environment of workers that are started here.
_SPAWNED_WITH = "distributed.nanny.pre-spawn-environ"

#: Where it is told the folder in which it works.
_WORKS_IN = "temporary-directory"

#: How long a worker may take to end, in seconds, before it is killed.
_MOST = 1


@contextmanager
def running(distributed: Any, workers: int) -> Iterator[Any]:
    """A ``LocalCluster`` of so many workers, each a process, as long as the block lasts."""
    # As the processes of a run without a cluster; and dask leaves its locks where it works.
    dask = importlib.import_module("dask")
    with temporary_folder() as folder:
        cluster = None
        try:
            try:
                # Of a Python that cannot be run multiprocessing tells nothing.
                subprocess.run([sys.executable, "-ISc", ""], check=False)
                with (
                    _silence(),
                    _held_signals(),
                    dask.config.set({_SPAWNED_WITH: MEMORY, _WORKS_IN: folder}),
                ):
                    cluster = distributed.LocalCluster(
                        n_workers=workers,
                        threads_per_worker=1,
                        dashboard_address=None,
                        # Else it is port 8787 of all networks, and a line is said where that is
                        # taken.
                        scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
                        memory_limit=None,
                        silence_logs=logging.CRITICAL + 1,
                        preload=[__name__],
                    )
            except (TimeoutError, RuntimeError, OSError) as error:
                raise _not_started(error) from error
            yield cluster
        finally:
            if cluster is not None:
                with _held_signals():
                    _end(cluster)


def _end(cluster: Any) -> None:
    """End it; dask itself waits 4 s for a worker that is at a large block."""
    cluster.sync(_end_workers, cluster)
    cluster.close()
    # The child that multiprocessing started with them, and would leave for init to reap.
    resource_tracker._resource_tracker._stop()  # type: ignore[attr-defined]


async def _end_workers(cluster: Any) -> None:
    ends = (nanny.close(timeout=_MOST) for nanny in cluster.workers.values())
    await asyncio.gather(*ends, return_exceptions=True)


def _not_started(error: BaseException) -> SerialpackError:
    """The error for a cluster of which ``error`` came."""
    while (of := error.__cause__ or error.__context__) is not None:
        error = of
    if isinstance(error, OSError):
        return WorkerNotStartedError(error)
    return FileError(
        f"--scheduler {LOCAL} starts no workers: {error_words(error)}",
        hint="ulimit -u says how many processes and threads are permitted; without --scheduler"
        " fewer do",
    )


@contextmanager
def _silence() -> Iterator[None]:
    """What is started meanwhile says nothing on standard error, where processes that do not come up
    would leave a traceback each."""
    try:
        kept = os.dup(2)
    except OSError:  # it is closed
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


@contextmanager
def _held_signals() -> Iterator[None]:
    """Signals that ask for the end wait meanwhile, and what is started never hears of Ctrl-C: a
    worker that is not up yet would end with a traceback. What was begun is not left half done,
    of which multiprocessing would tell."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # started later, it would let the signal through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def dask_setup(worker: object) -> None:  # noqa: ARG001  (dask's name for it, and its argument)
    """Of a worker that was started here: Ctrl-C goes to it too, and is not meant for it; what else
    ends it does so again."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
