"""``clearwood validate``: validation document of saved rules."""

from __future__ import annotations

from typing import Any

from clearwood.cli import options as shared
from clearwood.cli.command import Answer, command
from clearwood.cli.inputs import read_new_rows, read_saved


@command(
    "Write a validation document of saved rules.",
    shared.saved,
    shared.data,
    shared.out("the HTML document", "document", required=True),
    shared.option(
        "--purpose",
        shared.TEXT,
        "What the rules are used for, by whom, and for which decisions.",
        required=True,
    ),
    shared.option(
        "--limit limits", shared.TEXT, "Known limit; may be repeated.", multiple=True
    ),  # fmt: skip
    shared.option("--by", shared.TEXT, "Column of DATA with the segments."),
    shared.true_target,
    shared.model,
    shared.classes,
    shared.held_out_from("rules", "model"),
    shared.pos_label,
    shared.threshold,
    shared.option("--title", shared.TEXT, "Title of the document."),
    *shared.CELLS,
    shared.overwrite,
)
def validate(args: Any) -> Answer:
    """Write a document for the validation of the RULES of a file on the rows of DATA.

    It contains purpose, data, method, limits, all of `report` without single rows,
    results by segment, sensitivity, hashes and a place for signatures.
    """
    from clearwood.reporting.validation.document import (
        rules_to_validate,
        validation_document,
    )

    result, _ = read_saved(args.rules)
    rules = rules_to_validate(result)
    rows = read_new_rows(rules, args)
    names = "purpose limits by pos_label threshold held_out_from title overwrite"
    options = {name: getattr(args, name) for name in names.split()}
    validation_document(result, args.document, **rows._asdict(), **options)
    args.log(f"wrote {args.document}")
    return Answer()
