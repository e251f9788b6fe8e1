"""The README's first example: the output and the picture of its code.

``python -m tests.readme`` writes both anew.
"""

import contextlib
import io
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
README, PICTURE = ROOT / "README.md", ROOT / "docs" / "rules.png"
FIRST = re.compile(
    r"<!-- first example -->\n```python\n(.*?)```\n```text\n(.*?)```", re.S
)
BLOCK = re.compile(r"```python\n(.*?)```", re.S)


def first_example() -> tuple[str, str]:
    """Its code, and what the README says that it prints."""
    code, output = FIRST.search(README.read_text(encoding="utf-8")).groups()
    return code, output


def later_blocks() -> list[str]:
    """The code of all blocks after the first."""
    return BLOCK.findall(README.read_text(encoding="utf-8"))[1:]


def run(code: str) -> tuple[str, dict[str, Any]]:
    """What code prints, and the names that it defines."""
    printed, names = io.StringIO(), {}
    with contextlib.redirect_stdout(printed):
        exec(code, names)
    return printed.getvalue(), names


def main() -> None:
    """Write the output into the README, and the picture."""
    import matplotlib

    matplotlib.use("Agg")
    code, old = first_example()
    output, names = run(code)
    text = README.read_text(encoding="utf-8")
    README.write_text(text.replace(f"text\n{old}```", f"text\n{output}```", 1), "utf-8")
    display = names["cw"].rules.TreeDisplay.from_estimator(
        names["rules"], names["X_test"], names["y_test"]
    )
    display.plot().figure_.savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    main()
