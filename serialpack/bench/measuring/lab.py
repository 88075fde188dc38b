"""The process that measures, seen from our side: ``Lab`` starts it, and asks it to do jobs.

The jobs, and what they work on, are in ``workbench``. A job that crashes, hangs or takes all memory
ends that process and not ours; ``Lab`` tells so, and the next job gets a new process.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import Event, Timer
from typing import Any

from serialpack.bench.material import (
    Subject,
)
from serialpack.bench.measuring.memory import available, limit_memory
from serialpack.bench.measuring.workbench import Workbench, Workbenches
from serialpack.errors import SerialpackError
from serialpack.pipeline.processes import ProcessWorker, WorkerEnded

#: The share of the free memory that the process may take.
MEMORY_SHARE = 0.8


class Failed(Exception):
    """A job failed: its process crashed, ran out of memory or did not end. The text says which."""


class Late(Failed):
    """A job did not end in its time."""


class Lab:
    """The process that measures; it is started for the first job, and again behind one that failed.

    ``memory``: bytes that it may take; None: a share of what is free.
    """

    def __init__(self, subject: Subject, memory: int | None = None) -> None:
        free = available()
        limit = memory or (None if free is None else int(free * MEMORY_SHARE))
        self._make = partial(lab_worker, subject, limit)
        self._process: ProcessWorker | None = None

    def ask(self, job: Any, seconds: float) -> Any:
        """The result of ``job``. Late where there is none after ``seconds``, Failed where there
        never will be one; SerialpackError where the job raises it.
        """
        process = self._process = self._process or ProcessWorker(self._make)
        expired = Event()

        def expire() -> None:
            expired.set()
            process.kill()

        late = Timer(seconds, expire)
        late.daemon = True
        late.start()
        try:
            return process(job)
        except WorkerEnded as error:
            self.close()
            if expired.is_set():
                raise Late(f"did not end within {seconds:.3g} s") from None
            raise Failed(f"crashed ({error.how})") from None
        except MemoryError:
            self.close()
            raise Failed("ran out of memory") from None
        except SerialpackError:
            raise
        except Exception as error:
            raise Failed(f"failed ({type(error).__name__}: {error})") from None
        finally:
            late.cancel()

    def close(self) -> None:
        """End the process, whatever it is doing; another job starts another one."""
        if self._process is not None:
            with suppress(OSError):
                self._process.kill()
            self._process.close()
            self._process = None


def lab_worker(subject: Subject, memory: int | None) -> Callable[[Any], Any]:
    """What does the jobs, in the process of a ``Lab``. ``memory``: bytes that the process may take
    beside what it has; None: any."""
    if memory is not None:
        limit_memory(memory)
    bench = Workbenches(subject) if subject.files else Workbench(subject)
    return lambda job: job.run(bench)
