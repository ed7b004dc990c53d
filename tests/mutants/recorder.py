"""A plugin of pytest that notes which lines of the package each test executes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

import coverage
import pytest
from scratch import TREE, WORK

LINES = WORK / "lines.coverage"
TESTS = WORK / "tests.json"


class Recorder:
    """Notes the lines, the processors' seconds, the outcome and the shared fixtures of every test.

    What a shared fixture executes is noted under its own name: it is executed for every test that
    uses it, not only for the first.
    """

    def __init__(self) -> None:
        self.coverage = coverage.Coverage(data_file=str(LINES), source=[str(TREE / "letorbench")])
        self.tests: dict[str, dict] = {}
        self.now = ""

    def pytest_sessionstart(self) -> None:
        self.coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        fixtures = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
        shared = {_name(each[-1]) for each in fixtures.values() if each[-1].scope != "function"}
        self.tests[item.nodeid] = {"seconds": 0.0, "passed": True, "shared": sorted(shared)}
        self._enter(item.nodeid)
        start = sum(os.times()[:4])
        try:
            return (yield)
        finally:
            self.tests[item.nodeid]["seconds"] = sum(os.times()[:4]) - start

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef) -> Iterator[object]:
        before = self.now
        if fixturedef.scope != "function":
            self._enter(_name(fixturedef))
        try:
            return (yield)
        finally:
            self._enter(before)

    def _enter(self, context: str) -> None:
        self.now = context
        self.coverage.switch_context(context)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.tests[report.nodeid]["passed"] &= report.outcome == "passed"

    def pytest_sessionfinish(self) -> None:
        self.coverage.stop()
        self.coverage.save()
        TESTS.write_text(json.dumps(self.tests))


def _name(fixture: pytest.FixtureDef) -> str:
    return f"fixture {fixture.baseid} {fixture.argname}"
