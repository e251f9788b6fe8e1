"""The files that several commands write."""

from __future__ import annotations

from typing import Any


def write_rules(
    fitted: Any, split: Any, options: dict[str, Any], say: Any, **shown: Any
) -> None:
    """Write the rules, and a page on the held-out rows, where they were asked for.

    ``shown`` goes to the page: a class, its threshold, and to whom the rows are new,
    if not to the model too.
    """
    from clearwood.codec.files import write_text
    from clearwood.reporting import report

    out, page, force = options["out"], options["report"], options["force"]
    if out:
        write_text(out, fitted.rules_.to_json(), overwrite=force)
        say(f"wrote {out}")
    if page:
        shown = {"new_to": "model"} | shown
        report(fitted, page, X=split.X_test, y=split.y_test, overwrite=force, **shown)
        say(f"wrote {page}")
