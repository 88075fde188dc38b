"""How the tests are handed to processes (tests/distributed.py)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tests.distributed import ByFunction

TESTS = [
    "t.py::one[a]",
    "t.py::one[b[c]]",
    "t.py::alone",
    "t.py::first@group",
    "t.py::next[a]",
    "u.py::last[@]@group",
]


class Process:
    """What the scheduler sees of one. It runs a test when it knows the next, or that none is."""

    gateway = SimpleNamespace(id="process")

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.queue: list[int] = []
        self.shutting_down = False

    def send_runtest_some(self, indices: list[int]) -> None:
        self.queue += indices

    def shutdown(self) -> None:
        self.shutting_down = True

    def run(self, scheduler: ByFunction) -> bool:
        """Whether it could run one."""
        if len(self.queue) < (1 if self.shutting_down else 2):
            return False
        number = self.queue.pop(0)
        self.ran.append(TESTS[number])
        scheduler.mark_test_complete(self, number)
        return True


def begun(processes: int) -> tuple[ByFunction, list[Any]]:
    config: Any = SimpleNamespace(
        option=SimpleNamespace(),
        getvalue=lambda _: ["popen"] * processes,
    )
    scheduler: Any = ByFunction(config)
    scheduler.log = lambda *_: None
    nodes = [Process() for _ in range(processes)]
    for node in nodes:
        scheduler.add_node(node)
        scheduler.add_node_collection(node, TESTS)
    scheduler.schedule()
    return scheduler, nodes


def test_functions_and_groups_stay_together_and_all_tests_are_run() -> None:
    scheduler, (one, other) = begun(2)
    while any([one.run(scheduler), other.run(scheduler)]):
        assert scheduler.has_pending == (len(one.ran) + len(other.ran) < len(TESTS))
    assert sorted(one.ran + other.ran) == sorted(TESTS)
    for each in (one.ran, other.ran):
        assert ("t.py::one[a]" in each) == ("t.py::one[b[c]]" in each)
        assert ("t.py::first@group" in each) == ("u.py::last[@]@group" in each)
        assert each


def test_what_a_process_died_of_is_not_run_again_and_all_else_is() -> None:
    """Else it kills one process after another, or the last one waits for ever."""
    for before in range(len(TESTS)):
        scheduler, (one,) = begun(1)
        for _ in range(before):
            assert one.run(scheduler)
        died_of = scheduler.remove_node(one)
        new: Any = Process()
        scheduler.add_node(new)
        scheduler.add_node_collection(new, TESTS)
        scheduler.schedule()
        while new.run(scheduler):
            pass
        assert sorted([*one.ran, died_of, *new.ran]) == sorted(TESTS)
        assert new.shutting_down
