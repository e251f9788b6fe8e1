"""A real browser, where there is one."""

import os
import shutil
import subprocess
import tempfile

import pytest
from tests.waiting import SECONDS


@pytest.fixture(scope="session")
def chromium():
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        reason = "no chromium on this machine to open the page in"
        if os.environ.get("CI", "").lower() in {"1", "true"}:
            pytest.fail(reason)
        pytest.skip(reason)

    def run(*arguments):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
            flags = (
                "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
                "--disable-background-networking --disable-component-update "
                "--disable-sync --disable-dev-shm-usage --hide-scrollbars "
                "--enable-logging=stderr --log-level=0"
            ).split()
            return subprocess.run(
                [path, *flags, f"--user-data-dir={profile}", *arguments],
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=True,
            )

    return run
