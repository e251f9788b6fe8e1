"""An explanation for pictures and pages, and what a parser makes of coloured text."""

from functools import cache
from html.parser import HTMLParser

import numpy as np

from clearwood.sequences import explain_rnn


def counting(codes):
    """A network that counts ones modulo three."""
    count = np.cumsum(codes == 1) % 3
    p = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])[count]
    return np.eye(3)[count], np.log(p)


@cache
def explanation(symbols=("a", " ", "<"), n_states=(2, 3)):
    """One that is only to be read."""
    codes = np.random.default_rng(0).integers(3, size=800)
    return explain_rnn(
        counting, codes, symbols=symbols, n_states=n_states, tolerance=0.0
    )


class _Runs(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.found, self.open = [], []

    def handle_starttag(self, tag, attrs):
        assert tag == "i" and len(attrs) == 1 and attrs[0][0] == "class"
        self.open.append(int(attrs[0][1].removeprefix("s")))
        self.found.append(["", self.open[-1]])

    def handle_endtag(self, tag):
        assert tag == "i"
        self.open.pop()

    def handle_data(self, data):
        assert len(self.open) == 1
        self.found[-1][0] += data


def runs_of(markup):
    """Runs of one state: their text, and the state."""
    parser = _Runs()
    parser.feed(str(markup))
    parser.close()
    assert not parser.open
    return [tuple(run) for run in parser.found]
