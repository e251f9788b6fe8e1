"""Export methods of rule sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from clearwood.rules.rule_set import RuleSet


class Exportable:
    """Mixin of ``RuleSet`` for text, tables, and code in other languages.

    Only rule sets can be exported.
    """

    def to_text(self: Any, most: int | None = None) -> str:
        """Text of the rules as printed, with all categories of every set.

        Parameters
        ----------
        most : int, optional
            Maximum number of categories per set; further ones are counted.
        """
        from clearwood.rules.rule import wrapped

        lines = list(filter(None, (self.statistic, self.heading)))
        lines += self.text_lines(most)
        return "\n".join(map(wrapped, lines))

    def _page(self: Any) -> tuple[str, dict[str, Any]]:
        from clearwood.rules.exports.html_table import summarize_rules

        return "rules/rule_set.html", {"rules": summarize_rules(self)}

    def to_frame(self: Any) -> pd.DataFrame:
        """Rules as a pandas frame, one row each.

        Returns
        -------
        DataFrame
            Indexed by the number of the rule: ``conditions`` in words, ``prediction``,
            the probability (in a sum the score) of every class, or of survival to each
            horizon with its interval and the median, and the statistics of
            :class:`~clearwood.Rule` that are known.

        Examples
        --------
        >>> from clearwood.rules import FeatureSpace, Interval, Rule, RuleList
        >>> rules = RuleList((Rule((Interval(0, low=37.5),), 1.0),), Rule((), 0.0),
        ...     FeatureSpace.numeric(1, ["temperature"]))
        >>> rules.to_frame()[["conditions", "prediction"]]
                      conditions  prediction
        rule
        1     temperature > 37.5         1.0
        2              otherwise         0.0
        """
        from clearwood.rules.exports.frame import rules_to_frame

        return rules_to_frame(self)

    def to_sql(
        self: Any,
        dialect: str = "standard",
        *,
        table: str | None = None,
        probabilities: bool = False,
    ) -> str:
        """Export the rules as SQL with the same predictions as :meth:`predict`.

        Parameters
        ----------
        dialect : {"standard", "duckdb", "mssql", "mysql", "postgresql", "sqlite", \
"bigquery", "clickhouse", "databricks", "oracle", "redshift", "snowflake", "spark"}
            Quotation of names and text. The standard is read by SQLite, PostgreSQL and
            DuckDB; their own dialects also handle NaN (PostgreSQL, DuckDB) and columns
            that do not exist (SQLite). From "bigquery" on they are written by sqlglot
            (extra ``sql``).
        table : str, optional
            Table to select from. Without it the text is an expression for use in a
            query. For a sum of classes, the totals are columns, too.
        probabilities : bool, default=False
            Add a column per class, or horizon of survival, with its probability.

        Returns
        -------
        str

        Raises
        ------
        InputError
            The rules have no equivalent in SQL; the message gives the reason.

        Examples
        --------
        >>> from clearwood.rules import FeatureSpace, Interval, Rule, RuleList
        >>> rules = RuleList(
        ...     rules=(Rule((Interval(0, low=37.5),), "ill", (0.1, 0.9)),),
        ...     otherwise=Rule((), "well", (0.8, 0.2)),
        ...     features=FeatureSpace(("temperature",), (None,)),
        ...     classes=("well", "ill"))
        >>> print(rules.to_sql(table="visits"))
        SELECT *,
          CASE
            WHEN "temperature" > 37.5e0 THEN 'ill'
            ELSE 'well'
          END AS "prediction"
        FROM "visits"
        """
        from clearwood.rules.exports.sql import rules_to_sql

        return rules_to_sql(self, dialect, table=table, probabilities=probabilities)

    def to_latex(self: Any) -> str:
        """Export the rules as a LaTeX ``tabular`` that needs no package.

        Columns: number, conditions, prediction, rows that the rule predicts and
        agreement on these; for a sum the value added by each rule, and the number of
        rows; for an average also its weight.

        Returns
        -------
        str
            Non-ASCII letters are unchanged, in UTF-8.
        """
        from clearwood.rules.exports.latex import rules_to_latex

        return rules_to_latex(self)

    def to_python(self: Any, name: str = "predict") -> str:
        """Export the rules as source code of a Python function without dependencies.

        Parameters
        ----------
        name : str, default="predict"
            Name of the function. Its argument is a row, a mapping from feature names to
            values, in which a missing value is None, NaN or left out. For classes a
            second function, whose name ends in ``_proba``, returns their probabilities
            as a dict.

        Returns
        -------
        str

        Raises
        ------
        InputError
            The rules have no equivalent in Python; the message gives the reason.

        Examples
        --------
        >>> from clearwood.rules import FeatureSpace, Interval, Rule, RuleList
        >>> rules = RuleList(
        ...     rules=(Rule((Interval(0, low=5.25),), 31.2),),
        ...     otherwise=Rule((), 22.3),
        ...     features=FeatureSpace(("height",), (None,)))
        >>> functions = {}
        >>> exec(rules.to_python("heating"), functions)
        >>> functions["heating"]({"height": 7.0})
        31.2
        """
        from clearwood.rules.exports.python import rules_to_python

        return rules_to_python(self, name)

    def to_prompt(self: Any, max_tokens: int | None = None) -> str:
        r"""State the rules as plain text for the context of a language model.

        The text holds the columns with units and levels, every rule, how rules are
        combined, and the meaning of predictions; no statistics. Names and levels are
        quoted and escaped, so that they can neither start a line nor end a block of
        code or a tag. :meth:`from_prompt` reads the complete text.

        Parameters
        ----------
        max_tokens : int, optional
            Maximum number of tokens, estimated as one for two bytes of UTF-8 (texts in
            English have about four). If the complete text is longer, descriptions and
            unused columns are omitted, then rules: in a list those that predict the
            fewest rows; in a sum those that add least, in absolute value times rows;
            in an average those of least weight times rows. The second line of the text
            states what is omitted.

        Returns
        -------
        str

        Raises
        ------
        InputError
            The rules are for survival, or the text is too long even without rules.

        Examples
        --------
        >>> from clearwood.rules import FeatureSpace, Interval, Rule, RuleList
        >>> rules = RuleList((Rule((Interval(0, low=5.25),), 31.2),), Rule((), 22.3),
        ...     FeatureSpace(("height",), (None,)), target="heating")
        >>> text = rules.to_prompt()
        >>> print("\n".join(text.splitlines()[-2:]))
        1. If 'height' > 5.25 then predict 31.2
        2. Otherwise predict 22.3
        >>> RuleList.from_prompt(text) == rules
        True
        """
        from clearwood.rules.exports.runtimes.prompt import rules_to_prompt

        return rules_to_prompt(self, max_tokens)

    @staticmethod
    def from_prompt(text: str) -> RuleSet:
        """Read the complete text of :meth:`to_prompt`.

        Parameters
        ----------
        text : str
            As it was written: a text with an "Omitted" line is rejected.

        Returns
        -------
        RuleSet
            With the same predictions, but without statistics and metadata (``about``).

        Raises
        ------
        ModelFormatError
            The text is another one, or incomplete.
        """
        from clearwood.rules.exports.runtimes.prompt import rules_from_prompt

        return rules_from_prompt(text)

    def to_onnx(self: Any) -> Any:
        """Export the rules as an ONNX model with the same predictions.

        Each column that the rules use is an input of shape (n, 1), named as the column:
        numbers, numeric categories and booleans as double, where NaN is missing; text
        as string, where the empty text is missing. Outputs are ``prediction`` and, for
        classes, ``probabilities`` (with an underscore if a column has that name).
        Comparisons are in float64.

        Returns
        -------
        onnx.ModelProto
            ``SerializeToString()`` of it is the content of a file. Needs onnx (extra
            ``onnx``).

        Raises
        ------
        InputError
            The rules use dates or categories of several types, or have no conditions;
            the message gives the reason.

        Examples
        --------
        >>> import numpy as np
        >>> from onnxruntime import InferenceSession
        >>> from clearwood.rules import FeatureSpace, Interval, Rule, RuleList
        >>> rules = RuleList(
        ...     rules=(Rule((Interval(0, low=5.25),), 31.2),),
        ...     otherwise=Rule((), 22.3),
        ...     features=FeatureSpace(("height",), (None,)))
        >>> session = InferenceSession(rules.to_onnx().SerializeToString())
        >>> session.run(["prediction"], {"height": np.array([[7.0], [3.5], [np.nan]])})
        [array([31.2, 22.3, 22.3])]
        """
        from clearwood.rules.exports.runtimes.onnx import rules_to_onnx

        return rules_to_onnx(self)

    def to_pmml(self: Any) -> str:
        """Export the rules as PMML 4.4 with the same predictions.

        A list is a ``TreeModel`` with one leaf per rule, of which the first that holds
        is taken. Sums and averages are a ``MiningModel`` of such trees, whose totals a
        ``RegressionModel`` combines. Missing values need no treatment by the evaluator:
        they are part of the predicates. Outputs are ``prediction`` and, for classes,
        ``probability(...)`` of each.

        Returns
        -------
        str
            An XML document.

        Raises
        ------
        InputError
            The rules use dates, categories of several types, or characters that XML
            does not have; the message gives the reason.


        Examples
        --------
        >>> from clearwood.rules import FeatureSpace, Interval, Rule, RuleList
        >>> rules = RuleList(
        ...     rules=(Rule((Interval(0, low=5.25),), 31.2),),
        ...     otherwise=Rule((), 22.3),
        ...     features=FeatureSpace(("height",), (None,)), target="heating")
        >>> _, _, tree = rules.to_pmml().partition("</MiningSchema>")
        >>> print(tree[tree.index("    <Node>"):tree.index("  </TreeModel>")].rstrip())
            <Node>
              <True />
              <Node score="31.2">
                <SimplePredicate field="height" operator="greaterThan" value="5.25" />
              </Node>
              <Node score="22.3">
                <True />
              </Node>
            </Node>
        """
        from clearwood.rules.exports.runtimes.pmml import rules_to_pmml

        return rules_to_pmml(self)

    def to_sklearn(self: Any) -> Any:
        """Convert the rules to one fitted scikit-learn decision tree.

        The tree's predictions for ``X`` are those of the rules for ``X`` rounded to
        float32, as scikit-learn rounds the data; if no value lies between a bound and
        the float32 numbers next to it, these are the same. Its row counts are numbers
        of leaves, not of rows.

        If the rules use text categories, the tree is the last step of a ``Pipeline``
        after a ``ColumnTransformer`` that selects the columns used and replaces text by
        numbers. None and NaN are missing there; pandas.NA is not, but an unknown
        category (``astype(object).where(notna, None)`` helps).

        Returns
        -------
        DecisionTreeClassifier, DecisionTreeRegressor or Pipeline

        Raises
        ------
        InputError
            The rules use dates, or categories that are partly text, or that are numbers
            float32 cannot hold; they are a sum or an average, or need more than 10,000
            leaves.

        Examples
        --------
        >>> from clearwood.rules import FeatureSpace, Interval, Rule, RuleList
        >>> rules = RuleList(
        ...     rules=(Rule((Interval(0, 5.25, 7.0),), 31.2),),
        ...     otherwise=Rule((), 22.3),
        ...     features=FeatureSpace(("height",), (None,), named=False))
        >>> tree = rules.to_sklearn()
        >>> tree.predict([[5.0], [6.0], [8.0], [float("nan")]])
        array([22.3, 31.2, 22.3, 22.3])
        """
        from clearwood.rules.exports.sklearn_tree import rules_to_sklearn

        return rules_to_sklearn(self)
