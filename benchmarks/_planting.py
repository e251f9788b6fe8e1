"""Server processes that load the tests of a package once and run them on mutants in
forked copies: for `benchmarks.mutations`."""

import ast
import gc
import json
import marshal
import multiprocessing
import os
import resource
import sys
import time
import types

from benchmarks._recorder import Recorder

SECONDS_MORE = 60
"""Processor seconds beyond those of the tests, after which a mutant counts as seen."""

MOST_SECONDS, MOST_BYTES = 1200, 3 << 30
"""Limits for recording all tests of a package, and for the memory of any process."""

OPTIONS = ["-x", "-q", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist"]


SINGLE = "single files"
"""The files outside all packages, treated as one more package."""

TESTS = {
    "charts": [
        "tests/charts", "tests/rules/displays", "tests/comparison/test_display.py"],
    SINGLE: [
        "tests/test_families.py", "tests/test_memory.py", "tests/test_mlflow.py",
        "tests/test_package.py", "tests/test_persistence.py",
        "tests/discretize/test_saving.py", "tests/sbfc/test_saving.py",
    ],
}  # fmt: skip
"""Tests of packages without a folder of their own below tests/."""


def files_of_room(folder, room):
    """Tests, and the examples in docstrings."""
    source = folder / "src" / "clearwood"
    if room != SINGLE:
        return [f"src/clearwood/{room}", *TESTS.get(room, [f"tests/{room}"])]
    return [*(f"src/clearwood/{p.name}" for p in source.glob("*.py")), *TESTS[room]]


def enclosing(text, line, which=max):
    """First line of the innermost function around a line (`min`: the outermost)."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and line <= node.end_lineno:
            first = min(part.lineno for part in (node, *node.decorator_list))
            if first <= line:
                found.append(first)
    return which(found, default=0)


def _functions(code):
    """First line -> code, of all functions in a module's code."""
    found = {}
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            found |= _functions(part) | {part.co_firstlineno: part}
    return found


def new_code(path, before, after, line):
    """The mutant's code of the outermost function around a line, if there is one."""
    first = enclosing(before, line, min)
    old, new = (
        _functions(compile(t, path, "exec")).get(first) for t in (before, after)
    )
    return None if old == new else new


def put_in_place(code):
    """Replace the code of a loaded function."""
    gc.unfreeze()  # gc lists no frozen objects, and tests freeze some.
    for function in gc.get_objects():
        if isinstance(function, types.FunctionType):
            old = function.__code__
            here = old.co_filename, old.co_firstlineno, old.co_name
            if here == (code.co_filename, code.co_firstlineno, code.co_name):
                function.__code__ = code


def limit(seconds):
    """Limit the processor seconds and the memory of this process."""
    seconds = round(seconds + SECONDS_MORE)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))


def forked(function, *args):
    """Exit code of a function in a process of its own."""
    process = multiprocessing.get_context("fork").Process(target=function, args=args)
    process.start()
    process.join()
    return process.exitcode


class Server:
    """Pytest plugin that collects tests once, and runs some of them on request."""

    def __init__(self, pipe, recorder=None):
        self.pipe, self.recorder = pipe, recorder

    def pytest_configure(self):
        from hypothesis import Phase, settings

        # Shrinking examples would take most of the time.
        phases = (Phase.explicit, Phase.generate)
        settings.register_profile("mutant", settings(), phases=phases)
        settings.load_profile("mutant")

    def pytest_runtestloop(self, session):
        if self.recorder:
            self.recorder.stop()
        self.pipe.send(sorted({item.nodeid for item in session.items}))
        while work := self.pipe.recv():
            self.pipe.send(forked(self.run, session, *work))
        return True

    def run(self, session, names, seconds, code, is_record):
        limit(2 * seconds if is_record else seconds)
        if is_record:
            self.recorder.start()
        elif code is not None:
            put_in_place(marshal.loads(code))
        rank = {name: n for n, name in enumerate(names)}
        items = [item for item in session.items if item.nodeid in rank]
        best = {}
        for item in items:
            n = rank[item.nodeid]
            best[item.path] = min(n, best.get(item.path, n))
        if not is_record:
            # File by file, so that shared fixtures are made once.
            items.sort(key=lambda i: (best[i.path], str(i.path), rank[i.nodeid]))
        begin, files = time.perf_counter(), list(dict.fromkeys(i.path for i in items))
        for item, following in zip(items, [*items[1:], None]):
            # Each file has its share of the time, and passes on the rest.
            most = seconds * (files.index(item.path) + 1) / len(files)
            if is_record and time.perf_counter() - begin > most:
                self.recorder.tests[item.nodeid] = None
                continue
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if session.testsfailed and not is_record:
                os._exit(1)
        if is_record:
            self.recorder.write()
        os._exit(0)


def serve(folder, paths, *plugin):
    """Run a server for some files of tests."""
    import pytest

    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os.chdir(folder)
    sys.path[:0] = [f"{folder}/src"]
    # No bytecode of a mutant is kept.
    sys.dont_write_bytecode = True
    os.environ |= {"PYTHONPATH": f"{folder}/src", "PYTHONDONTWRITEBYTECODE": "1"}
    recorders = [recorder for _, recorder in [plugin] if recorder]
    sys.exit(pytest.main([*OPTIONS, *paths], plugins=[Server(*plugin), *recorders]))


class Room:
    """The tests of a package: the functions that each runs, and a server."""

    def __init__(self, folder, room, known, seconds):
        self.folder, self.source = folder, folder / "src" / "clearwood"
        self.file = folder / f"{room.replace('/', '-')}.json"
        recorder = None if known else Recorder(self.source, self.file)
        self.server, self.names = self.started(files_of_room(folder, room), recorder)
        if not self.names:
            sys.exit(f"The tests of {room} cannot be loaded.")
        if not known:
            if self.run(self.server, self.names, seconds, None, True):
                self.close()
                sys.exit(f"The tests of {room} end early without a bug.")
            known = json.loads(self.file.read_text())
        self.record = known
        # Exclude tests that need their own process, and therefore fail here without a
        # bug, and those that the time limit of the record left out.
        n_tests = len(self.names)
        self.names = [name for name in self.names if known.get(name, True)]
        print(f"{len(self.names)} of {n_tests} tests of {room} can be used")

    def started(self, paths, recorder=None):
        """A server, and the names of its tests; none if they cannot be loaded."""
        here, there = multiprocessing.Pipe()
        work = (self.folder, paths, there, recorder)
        multiprocessing.get_context("fork").Process(
            target=serve, args=work, daemon=False
        ).start()
        there.close()
        try:
            return here, here.recv()
        except EOFError:
            return None, []

    @staticmethod
    def run(server, *work):
        """Exit code of some tests."""
        server.send(work)
        return server.recv()

    def sees(self, file, line, text, names):
        """Whether one of these tests fails under a mutant."""
        path = self.source / file
        before, stat = path.read_text(encoding="utf-8"), path.stat()
        seconds = 3 * sum(self.record.get(name, [1])[0] for name in names)
        code = new_code(str(path), before, text, line)
        if code is not None:
            packed = marshal.dumps(code)
            return self.run(self.server, names, seconds, packed, False) != 0
        # Code that runs on import needs a server of its own.
        path.write_text(text, encoding="utf-8")
        try:
            server, found = self.started(sorted({n.split("::")[0] for n in names}))
            if not server or not {*names} <= {*found}:
                return True
            seen = self.run(server, names, seconds, None, False) != 0
            server.send(None)
            return seen
        finally:
            path.write_text(before, encoding="utf-8")
            os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    def close(self):
        """Stop the server."""
        self.server.send(None)
