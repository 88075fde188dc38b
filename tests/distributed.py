"""How xdist hands the tests to its processes, and what these say of each: no more than is needed.

`LoadGroupScheduling` takes each of the tests that have no group for a group of its own. With every
test that ends it counts all that its process was ever given, and looks each one up in the list of
all: with twenty thousand tests, that took as long as many of them. Here, all parameters of one
function go to one process, one after another, and what is done is forgotten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from _pytest.runner import runtestprotocol
from xdist.scheduler import LoadGroupScheduling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdist.workermanage import WorkerController


class ByFunction(LoadGroupScheduling):  # type: ignore[misc]  # xdist says nothing of its types
    """Groups and functions, as they stand in the files."""

    def add_node_collection(self, node: WorkerController, collection: Sequence[str]) -> None:
        super().add_node_collection(node, collection)
        self._places = {name: place for place, name in enumerate(collection)}

    def schedule(self) -> None:
        # By their number of tests they would be strewn over the files, and so would be the
        # fixtures that a module makes once.
        self.config.option.loadscopereorder = False
        super().schedule()

    def _split_scope(self, nodeid: str) -> str:
        group: str = super()._split_scope(nodeid)
        return nodeid.partition("[")[0] if group == nodeid else group

    def mark_test_complete(self, node: WorkerController, item_index: int, *_: float) -> None:
        name = self.registered_collections[node][item_index]
        scope = self._split_scope(name)
        work = self.assigned_work[node]
        del work[scope][name]
        if not work[scope]:
            del work[scope]
        self._reschedule(node)

    def remove_node(self, node: WorkerController) -> str | None:
        """Forget a process that died; the test it died of is not run again."""
        work = self.assigned_work.pop(node)
        died_of: str | None = next((name for unit in work.values() for name in unit), None)
        if died_of is not None:
            del work[self._split_scope(died_of)][died_of]
            self.workqueue.update({scope: unit for scope, unit in work.items() if unit})
            for other in self.assigned_work:
                self._reschedule(other)
        return died_of

    def _reschedule(self, node: WorkerController) -> None:
        """Give the process more, where it needs it: it runs no test before it knows the next."""
        for _ in range(2):
            super()._reschedule(node)

    def _assign_work_unit(self, node: WorkerController) -> None:
        scope, unit = self.workqueue.popitem(last=False)
        self.assigned_work[node][scope] = unit
        node.send_runtest_some([self._places[name] for name in unit])


def run_and_report(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Run the test, and report what tells something: its call, and what did not pass."""
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
