"""HTML report of a result: plain data and a template."""

from __future__ import annotations

from copy import copy
from typing import Any

from clearwood._html import render
from clearwood._html.disclosure import disclosed
from clearwood._warned_once import warned_once
from clearwood._words.labels import check_text, printable, type_text
from clearwood._words.spelling import suggests_parameters
from clearwood.codec.files import check_writable, write_text
from clearwood.columns.feature_space import is_frame
from clearwood.columns.frames import kept_frame, read_once
from clearwood.comparison.frontier import Frontier
from clearwood.exceptions import InputError
from clearwood.families import section_of
from clearwood.reporting.frontier import summarize_frontier
from clearwood.reporting.summary import summarize
from clearwood.results import Result
from clearwood.rules import RuleSet
from clearwood.rules.rule_set import rules_of


@warned_once()
@read_once()
@suggests_parameters
def report(
    result: Any,
    path: Any,
    *,
    X: Any = None,
    y: Any = None,
    model: Any = None,
    title: str | None = None,
    column_info: Any = None,
    pos_label: Any = None,
    threshold: float | None = None,
    held_out_from: str | None = None,
    row: Any = None,
    show_rows: bool = False,
    overwrite: bool = False,
) -> None:
    """Write an HTML report of a result: predictions, performance, failures.

    For rules it first states whether they may replace the model, and explains its terms
    at the end. For a comparison: all points on a chart, with the rules of the selected
    one. For a selective Bayesian forest: its feature graph, in which features can be
    highlighted. For a recurrent network or a hidden Markov model: a text, or series,
    coloured by states. The page needs no network and no script. The same input gives
    the same bytes.

    Parameters
    ----------
    result : fitted estimator, RuleSet or other Result
        What to report: rules (``rules_``) of FABRulesClassifier, RuleListRegressor or
        any other of these methods; the coefficients of a projected linear model; the
        graphs of a SelectiveBayesianForestClassifier; a forest of meta-trees; a
        density; a hidden Markov model or an HMMLSTM; or, without rows, the result of
        ``explain_local``, ``explain_rnn``, ``compare``, ``decisions`` or any other.
    path : str or Path
        The HTML file to write.
    X : array-like or frame of shape (n_samples, n_features), optional
        Rows on which to score the rules and look for their failures; preferably rows
        held out from the model. For rules it may be a sparse matrix; then the page has
        no feature importances. All numbers on the page are based on these rows; those
        stored with the rules are in a collapsed section.
    y : array-like of shape (n_samples,), optional
        True labels or values of these rows. For a HiddenMarkovModel, whose X may be a
        text, the lengths of the sequences.
    model : model, path or array-like of shape (n_samples,), optional
        The model that the rules approximate, or its predictions for ``X``. By default
        the ensemble, or the reference, that ``result`` was fitted to.
    title : str, optional
        Title of the page.
    column_info : mapping of str to mapping, optional
        For rules and comparisons: per column its display ``name``, ``unit`` and
        ``description``; see :meth:`RuleSet.with_columns`. Other results use those of
        the table that they were fitted to, in its ``attrs["column_info"]``.
    pos_label : a class label, optional
        The positive class, as in :func:`decisions`.
    threshold : float, optional
        Probability of ``pos_label`` from which a row is predicted so, as there.
    held_out_from : {"rules", "model"}, optional
        For which the rows of ``X`` are held out: for the rules alone, if the model may
        have been trained on them, or for the model and therefore the rules, too. The
        page states this; by default it states that this is unknown.
    row : mapping, array-like or frame of one row, optional
        A row to explain, as by :func:`explain`; its path is highlighted in the diagram
        of a tree.
    show_rows : bool, default=False
        Whether the page may show single rows: those on which rules and model differ
        most, and anomalies; and statistics of fewer than five rows. Values of ``row``
        and the sequences of a hidden Markov model or a network are always shown.
    overwrite : bool, default=False
        Whether an existing file may be replaced.

    Raises
    ------
    InputError
        The file exists or cannot be written, or the data does not fit the rules.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from clearwood.rules import FeatureSpace
    >>> from clearwood.rules import Interval, Rule, RuleList
    >>> rules = RuleList(
    ...     (Rule((Interval(0, low=37.5),), 1.0),),
    ...     Rule((), 0.0),
    ...     FeatureSpace.numeric(1, ["temperature"]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "report.html"
    ...     report(rules, path, X=[[36.9], [39.0]], y=[0.0, 1.0])
    ...     "temperature &gt; 37.5" in path.read_text(encoding="utf-8")
    True
    """
    # Before the summary, which may take long for many rows.
    check_writable(path, overwrite=overwrite)
    check_text((title,), "The title")
    if is_frame(X):
        kept_frame(X, codes=True)
    if column_info is not None:
        result = _with_columns(result, column_info)
    if isinstance(result, Result) and _is_whole(result):
        given = (X, y, model, pos_label, threshold, held_out_from, row)
        if any(argument is not None for argument in given):
            raise InputError(
                f"The page of {type_text(result)} shows no other rows; leave X, y, "
                "model, pos_label, threshold, held_out_from and row out."
            )
        page = _page_of(result, title, show_rows)
    else:
        summary = summarize(
            result, X=X, y=y, model=model, title=title, pos_label=pos_label,
            threshold=threshold, held_out_from=held_out_from, row=row,
            show_rows=show_rows,
        )  # fmt: skip
        template = "report.html" if "rules" in summary else "section.html"
        page = render(f"reporting/{template}", **summary)
    write_text(path, page, overwrite=overwrite)


def _is_whole(result: Result) -> bool:
    """Whether a result is shown without further rows."""
    return not isinstance(result, RuleSet) and section_of(result) is None


def _page_of(result: Result, title: str | None, show_rows: bool) -> str:
    from clearwood import __version__

    if isinstance(result, Frontier):
        summary = summarize_frontier(result, title=title, show_rows=show_rows)
        return render("reporting/frontier.html", **summary)
    template, content = result._page()
    heading = title or result._page_title or type(result).__name__
    return render(
        "reporting/result.html", title=printable(heading),
        version=__version__, shown=template, **disclosed(content, show_rows),
    )  # fmt: skip


def _with_columns(result: Any, column_info: Any) -> Any:
    """The result with display names of columns in its rules."""
    if isinstance(result, RuleSet | Frontier):
        return result.with_columns(column_info)
    if section_of(result) is not None and "rules_" not in vars(result):
        raise InputError(
            f"The result is {type_text(result)}, which reads column_info when it is "
            "fitted: set X.attrs['column_info'] = column_info on the pandas frame that "
            "it is fitted to, and leave column_info out here."
        )
    named = copy(result)
    named.rules_ = rules_of(result, "result").with_columns(column_info)
    return named
