"""The build backend: scikit-build-core, with a C++ compiler from PyPI where none is.

``ziglang`` packs Clang with all headers and libraries. It is asked for only where no
compiler is on the path, so that a clone is set up without root. On Windows CMake
finds Visual Studio by itself.
"""

import contextlib
import os
import shutil
import stat
import sys
import tempfile
from pathlib import Path

from scikit_build_core import build as backend
from scikit_build_core.build import (  # noqa: F401  (what a build backend consists of)
    build_sdist,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

COMPILERS = ("c++", "g++", "clang++")


def _has_compiler():
    return (
        os.name == "nt"
        or bool(os.environ.get("CXX"))
        or any(shutil.which(name) for name in COMPILERS)
    )


def get_requires_for_build_wheel(config_settings=None):
    requires = backend.get_requires_for_build_wheel(config_settings)
    return [*requires, *([] if _has_compiler() else ["ziglang>=0.13"])]


def get_requires_for_build_editable(config_settings=None):
    requires = backend.get_requires_for_build_editable(config_settings)
    return [*requires, *([] if _has_compiler() else ["ziglang>=0.13"])]


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with _compiler():
        return backend.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    with _compiler():
        return backend.build_editable(
            wheel_directory, config_settings, metadata_directory
        )


@contextlib.contextmanager
def _compiler():
    """Name Zig's compiler and archiver to CMake if there is no other."""
    if _has_compiler():
        yield
        return
    with tempfile.TemporaryDirectory() as folder:
        # CMake wants one executable for each.
        for name, command in {"CXX": "c++", "AR": "ar", "RANLIB": "ranlib"}.items():
            script = Path(folder, f"zig-{command}")
            script.write_text(
                f'#!/bin/sh\nexec "{sys.executable}" -m ziglang {command} "$@"\n'
            )
            script.chmod(script.stat().st_mode | stat.S_IXUSR)
            os.environ[name] = str(script)
        arguments = (f"-DCMAKE_{tool}={os.environ[tool]}" for tool in ("AR", "RANLIB"))
        os.environ["CMAKE_ARGS"] = " ".join(
            [os.environ.get("CMAKE_ARGS", ""), *arguments]
        )
        yield
