"""LaTeX prints names and labels as they are."""

import re

import pytest
from tests.wording import same_text

from clearwood.columns.feature_space import FeatureSpace
from clearwood.rules import (
    CategorySet,
    Interval,
    Rule,
    RuleList,
    RuleStatistics,
    RuleSum,
)
from clearwood.rules.exports.latex import latex_text

WRITTEN = {
    r"\textbackslash{}": "\\",
    r"\textasciicircum{}": "^",
    r"\textasciitilde{}": "~",
    r"\textless{}": "<",
    r"\textgreater{}": ">",
    r"\textbar{}": "|",
    r"\symbol{34}": '"',
    r"\textquotesingle{}": "'",
    r"\textasciigrave{}": "`",
    "-{}": "-",
    ",{}": ",",
    "\\ ": " ",
    **{f"\\{c}": c for c in "{}$&#%_"},
}


def printed(text):
    """What LaTeX prints of an escaped text; nothing but what is known may occur."""
    known = "|".join(map(re.escape, WRITTEN))
    tokens = re.findall(rf"{known}|[^\\{{}}$&#%_^~<>|\"'`]", text)
    assert "".join(tokens) == text
    return "".join(WRITTEN.get(token, token) for token in tokens)


@pytest.mark.parametrize(
    "text",
    ["".join(map(chr, range(32, 127))), "a--b,,,c", "a   b", "ünï ≤ 漢字", "~^\\{}"],
)
def test_every_sign_is_printed_as_it_is(text):
    assert printed(latex_text(text)) == text
    assert "--" not in latex_text(text)
    assert ",," not in latex_text(text)
    assert "  " not in latex_text(text)


QUOTE = r"\textquotesingle{}"


def test_a_list():
    space = FeatureSpace(("age_1", "a<=b"), (None, ("x & y", "50%")))
    rules = RuleList(
        (
            Rule(
                (Interval(0, 1.5, 60.0), CategorySet(1, (1,))),
                "#1",
                (0.2, 0.8),
                statistics=RuleStatistics(
                    support=12.0,
                    assigned=10.0,
                    agreement_assigned=0.987654321,
                    expected=0.8,
                    low=0.71,
                    high=0.88,
                ),  # fmt: skip
            ),
        ),
        Rule((), "no", (0.9, 0.1)),
        space,
        ("no", "#1"),
        "state_1\n\\end",
    )
    lines = rules.to_latex().splitlines()
    same_text(lines[0])
    assert lines[1:3] == [r"\begin{tabular}{r p{0.4\linewidth} l r l}", r"\hline"]
    same_text(lines[3])
    name = rf"{QUOTE}a\textless{{}}=b{QUOTE}"
    asked = rf"1.5 $<$ age\_1 $\leq$ 60 and {name} is {QUOTE}50\%{QUOTE}"
    assert lines[5] == (
        rf"1 & {asked} & \#1, probability 80 \% [71, 88] & 10 & agreement 99 \% \\"
    )
    assert lines[6] == r"2 & otherwise & no, probability 90 \% &  &  \\"
    assert lines[7:] == [r"\hline", r"\end{tabular}"]


def test_a_sum():
    rules = RuleSum(
        (
            Rule(
                (Interval(0, low=5.25),), -8.9, statistics=RuleStatistics(support=384.0)
            ),
        ),
        Rule((), 22.3, statistics=RuleStatistics(support=768.0)),
        FeatureSpace(("height",), (None,)),
    )
    lines = rules.to_latex().splitlines()
    same_text(lines[3])
    assert lines[5:7] == [
        r" & always & 22.3 & 768 \\",
        r"1 & height $>$ 5.25 & - 8.9 & 384 \\",
    ]
