"""SQL dialects of databases."""

from __future__ import annotations

from dataclasses import dataclass

from clearwood.rules.exports.transpiled import ASKS_NAN


@dataclass(frozen=True)
class Dialect:
    """Properties of a SQL dialect.

    Attributes
    ----------
    quotes : str
        Quotation marks of names.
    text : str
        Prefix of a quoted text.
    text_type, number_type : str
        The types of text, and of double precision numbers.
    exact_text : str
        Operator that compares text byte by byte if the database does not.
    backslashes : bool
        Whether backslashes in text must be doubled.
    has_nan : bool
        Whether a column can hold NaN.
    nan_is_large : bool
        Whether NaN is larger than any number and equal to itself; else it is neither.
    has_true : bool
        Whether there are keywords for true and false.
    cast : bool
        Whether a literal with an exponent is still a decimal.
    line_break : str
        Replacement of a character that ends a line, inside text, where the database's
        client would read the next line as a command ("GO", "/").
    """

    quotes: str = '""'
    text: str = ""
    text_type: str = "VARCHAR"
    number_type: str = "DOUBLE PRECISION"
    exact_text: str = "{}"
    backslashes: bool = False
    has_nan: bool = False
    nan_is_large: bool = True
    has_true: bool = True
    cast: bool = False
    line_break: str = ""


DIALECTS = {
    "standard": Dialect(cast=True),
    "duckdb": Dialect(has_nan=True),
    "mssql": Dialect(
        quotes="[]",
        text="N",
        text_type="NVARCHAR(4000)",
        number_type="FLOAT(53)",
        exact_text="{} COLLATE Latin1_General_100_BIN2",
        has_true=False,
        line_break="' + NCHAR({}) + N'",
    ),
    "mysql": Dialect(
        quotes="``",
        text_type="CHAR",
        number_type="DOUBLE",
        exact_text="CAST(CONVERT({} USING utf8mb4) AS BINARY)",
        backslashes=True,
    ),
    "postgresql": Dialect(has_nan=True, cast=True),
    # SQLite reads an unknown name in double quotes as text.
    "sqlite": Dialect(quotes="``", number_type="REAL"),
}
# Translated by sqlglot into the others; DuckDB's parser reads all of it.
BASES = {
    **dict.fromkeys(ASKS_NAN, Dialect(has_nan=True, nan_is_large=False)),
    "databricks": DIALECTS["duckdb"],
    "oracle": Dialect(cast=True, line_break="' || CHR({}) || '"),
    "redshift": DIALECTS["postgresql"],
    "snowflake": DIALECTS["postgresql"],
    "spark": DIALECTS["duckdb"],
}
DIALECT_NAMES = (*DIALECTS, *BASES)
