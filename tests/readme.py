"""The README's first block: what ``make demo`` prints.

``python -m tests.readme`` writes it anew.
"""

import contextlib
import io
import os
import runpy
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
BEGIN, END = "<!-- demo output -->\n", "<!-- end of demo output -->"


def demo_block() -> str:
    """The block between the marks, as it should be."""
    printed, before = io.StringIO(), Path.cwd()
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            with (
                mock.patch.object(sys, "argv", ["demo.py", "demo"]),
                contextlib.redirect_stdout(printed),
            ):
                runpy.run_path(str(ROOT / "examples" / "demo.py"), run_name="__main__")
        finally:
            os.chdir(before)
    return f"```text\n$ make demo\n{printed.getvalue()}```\n"


def parts() -> tuple[str, str, str]:
    """The README before the block, the block, and the rest."""
    before, _, rest = README.read_text(encoding="utf-8").partition(BEGIN)
    block, _, after = rest.partition(END)
    return before, block, after


if __name__ == "__main__":
    before, _, after = parts()
    README.write_text(before + BEGIN + demo_block() + END + after, encoding="utf-8")
