"""Functions of the library that each test runs: for `benchmarks.mutations`."""

import cProfile
import functools
import gc
import json
import time
from collections import defaultdict
from types import CodeType

import pytest


def not_cached(function):
    """In place of ``functools.cache``: a cached helper runs for the first test only."""
    function.cache_clear = lambda: None
    return function


class Recorder:
    """Pytest plugin that records for every passing test its seconds and functions.

    Functions that a fixture or the import of a file runs count for all tests that use
    it. Those in other threads and processes are not recorded.
    """

    def __init__(self, source, path):
        self.source, self.path = f"{source}/", path
        self.tests, self.seen = {}, set()
        self.of_fixture, self.of_file = defaultdict(set), defaultdict(set)
        functools.cache = not_cached
        self.profiler = None
        self.start()

    def start(self):
        """A new profiler, since its statistics are cumulative."""
        self.profiler = cProfile.Profile(time.process_time, builtins=False)
        # Collecting the old profiler while this one starts would stop it.
        gc.disable()
        self.profiler.enable()
        gc.enable()

    def flush(self):
        """Record the functions that ran since the last call."""
        if not self.profiler:
            return
        self.profiler.disable()
        codes = (entry.code for entry in self.profiler.getstats())
        self.seen |= {
            code
            for code in codes
            if isinstance(code, CodeType) and code.co_filename.startswith(self.source)
        }
        self.start()

    def during(self):
        """Functions that run during a hook that is a generator."""
        self.flush()
        outer, self.seen = self.seen, set()
        try:
            result = yield
        finally:
            self.flush()
            inner, self.seen = self.seen, outer
        return result, inner

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector):
        result, inner = yield from self.during()
        self.of_file[collector.path] |= inner
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef):
        result, inner = yield from self.during()
        self.of_fixture[fixturedef] |= inner
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        begin, failed = time.process_time(), item.session.testsfailed
        result, codes = yield from self.during()
        seconds = time.process_time() - begin
        codes |= self.of_file[item.path]
        for fixtures in item._fixtureinfo.name2fixturedefs.values():
            codes = codes.union(*(self.of_fixture[one] for one in fixtures))
        if item.session.testsfailed > failed:
            self.tests[item.nodeid] = None
            return result
        self.tests[item.nodeid] = (
            seconds,
            sorted(
                (code.co_filename.removeprefix(self.source), code.co_firstlineno)
                for code in codes
            ),
        )
        return result

    def stop(self):
        """Stop recording."""
        self.profiler.disable()
        self.profiler = None

    def write(self):
        """Write the record of all tests to a file."""
        self.stop()
        self.path.write_text(json.dumps(self.tests))
