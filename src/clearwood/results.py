"""What all results have in common: text, HTML, a table and a chart."""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from clearwood.exceptions import InputError

if TYPE_CHECKING:
    import pandas as pd

    from clearwood.charts.display import Display


class Result(ABC):
    """Base class of results: what functions and fitted estimators return to be read.

    At the prompt and in a notebook a result shows the text that ``print`` writes.
    Results with their own HTML override ``_page``; those with a chart name
    its display. :func:`clearwood.report` writes a page of each, and
    :func:`clearwood.save` a file of those that predict: rules and circuits.

    Examples
    --------
    >>> from clearwood.rules import RuleScores
    >>> scores = RuleScores(0.08, 0.95, 1.0, 1.2, n_rules=4, n_literals=5)
    >>> isinstance(scores, Result)
    True
    >>> scores
    error 0.08, fidelity 0.95, coverage 1, overlap 1.2, 4 rules, 5 literals
    >>> scores.to_frame()
       error  fidelity  coverage  overlap  n_rules  n_literals
    0   0.08      0.95       1.0      1.2        4           5
    """

    _display: ClassVar[str] = ""
    """Its display, ``"module:Class"``, made by ``of_result``."""

    _page_title: ClassVar[str] = ""
    """Title of its page; by default the name of the class."""

    @abstractmethod
    def __str__(self) -> str:
        """Text for people."""

    def __repr__(self) -> str:
        return str(self)

    def _page(self) -> tuple[str, dict[str, Any]]:
        """Template of the result alone, and its content (see ``disclosed``)."""
        return "_html/text.html", {"text": str(self)}

    def _repr_html_(self) -> str:
        from clearwood._html import render
        from clearwood._html.disclosure import disclosed

        template, content = self._page()
        return render(template, **disclosed(content, show_rows=True))

    @abstractmethod
    def to_frame(self) -> pd.DataFrame:
        """The numbers of the result as a pandas frame."""

    def plot(self, ax: Any = None) -> Display:
        """Draw the result.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure by default.

        Returns
        -------
        Display
            Drawn, with ``ax_`` and ``figure_``.
        """
        if not self._display:
            raise InputError(
                f"{type(self).__name__} has no chart; print it, or use to_frame()."
            )
        module, _, name = self._display.partition(":")
        return getattr(import_module(module), name).of_result(self).plot(ax)
