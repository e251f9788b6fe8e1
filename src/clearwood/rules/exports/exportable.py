"""The methods of a rule set that show it elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


class Exportable:
    """What can be written as text, as a table, and as code in other languages.

    A part of ``RuleSet``, which is all that can be exported.
    """

    def to_text(self: Any, most: int | None = None) -> str:
        """The rules as ``print`` shows them, with every category of every set.

        Parameters
        ----------
        most : int, optional
            Of a set only so many categories, and how many more there are.
        """
        from clearwood.rules.rule import wrapped

        lines = list(filter(None, (self.statistic, self.heading)))
        lines += self.text_lines(most)
        return "\n".join(map(wrapped, lines))

    def _repr_html_(self: Any) -> str:
        from clearwood.rules.exports.html_table import rules_html

        return rules_html(self)

    def to_frame(self: Any) -> pd.DataFrame:
        """The rules as a frame of pandas, one line each.

        Returns
        -------
        DataFrame
            By the number of the rule: ``conditions`` in words, ``prediction``, the
            probability (in a sum the score) of every class, and the statistics that
            :class:`Rule` lists, but for those that are not known.

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
        """The rules as SQL that predicts what :meth:`predict` does.

        Parameters
        ----------
        dialect : {"standard", "duckdb", "mssql", "mysql", "postgresql", "sqlite", \
"bigquery", "clickhouse", "oracle", "redshift", "snowflake", "spark"}
            How names and texts are quoted. The standard is read by SQLite,
            PostgreSQL and DuckDB; their own dialects also mind NaN (PostgreSQL,
            DuckDB) and columns that do not exist (SQLite). From "bigquery" on they
            are written by sqlglot (extra ``sql``).
        table : str, optional
            Table to select from. Without it the text is an expression to be put
            into a query. For a sum of classes, their totals are columns too.
        probabilities : bool, default=False
            Add a column per class with its probability.

        Returns
        -------
        str

        Raises
        ------
        InputError
            Something cannot be said in SQL; the message says what.

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
        """The rules as a LaTeX ``tabular`` that needs no package.

        Per rule its number, conditions, prediction, the rows that it catches and the
        agreement there; of a sum what each rule adds, and to how many rows; of an
        average the weight of each rule, too.

        Returns
        -------
        str
            Letters beyond ASCII stay as they are, in UTF-8.
        """
        from clearwood.rules.exports.latex import rules_to_latex

        return rules_to_latex(self)

    def to_python(self: Any, name: str = "predict") -> str:
        """The rules as the source text of a function that needs no library.

        Parameters
        ----------
        name : str, default="predict"
            Name of the function. It takes a row, a mapping from feature names to
            values, in which a missing value is None, NaN or left out. For classes a
            second function, whose name ends in ``_proba``, gives their
            probabilities as a dict.

        Returns
        -------
        str

        Raises
        ------
        InputError
            Something cannot be said in Python; the message says what.

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

    def to_sklearn(self: Any) -> Any:
        """The rules as one fitted decision tree of scikit-learn.

        The tree says of ``X`` what the rules say of ``X`` rounded to float32, as
        scikit-learn rounds the data; where no value lies between a bound and the
        float32 numbers next to it, that is the same. Its counts of rows are those of
        leaves, not of rows.

        Where the rules ask categories that are texts, the tree stands in a ``Pipeline``
        behind a ``ColumnTransformer``, which takes the columns that they ask and puts
        numbers into the place of the texts. None and NaN are missing there; pandas.NA
        is not, but an unknown category (``astype(object).where(notna, None)`` helps).

        Returns
        -------
        DecisionTreeClassifier, DecisionTreeRegressor or Pipeline

        Raises
        ------
        InputError
            The rules ask dates, or categories of which some are texts and others are
            not, or which are numbers that float32 cannot hold; they add up, are an
            average, or need more than 10,000 leaves.

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
