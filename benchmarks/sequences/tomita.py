"""Are Tomita's languages recovered from trained networks, exactly?

python -m benchmarks.sequences.tomita [--quick] [--fresh]

GRUs and LSTMs of 20 units are trained to classify every prefix of a word as a member of
one of seven regular languages or not (Tomita, 1982); needs torch, and AALpy
(``pip install aalpy``) for the comparison with L*.
"""

import time
import warnings
from functools import lru_cache, partial
from itertools import accumulate

import numpy as np
import torch

import clearwood as cw
from benchmarks._study import Study, arguments, markdown_table

LANGUAGES = {
    1: ([[1, 0], [1, 1]], {0}),
    2: ([[2, 1], [0, 2], [2, 2]], {0}),
    3: ([[0, 1], [2, 0], [3, 4], [2, 3], [4, 4]], {0, 1, 3}),
    4: ([[1, 0], [2, 0], [3, 0], [3, 3]], {0, 1, 2}),
    5: ([[1, 2], [0, 3], [3, 0], [2, 1]], {0}),
    6: ([[2, 1], [0, 2], [1, 0]], {0}),
    7: ([[0, 1], [2, 1], [2, 3], [4, 3], [4, 4]], {0, 1, 2, 3}),
}
"""Minimal automata: transitions with 1 ... of every state; accepting states; all words
start in state 0."""

CELLS = {"GRU": torch.nn.GRU, "LSTM": torch.nn.LSTM}
SIZES = (20, 50, 100, 300, "auto")
LONGEST, N_WORDS, N_UNITS, N_EPOCHS = 20, 2000, 20, 60
"""Length of all words, training words, units, and maximum number of epochs; training
ends after three epochs without an error."""

ENOUGH = 0.999
"""Target agreement of automaton and network, if the network itself is not correct on
all words."""


class Acceptor(torch.nn.Module):
    """Reads words; logits of rejection and acceptance after every symbol."""

    def __init__(self, cell):
        super().__init__()
        self.lookup = torch.nn.Embedding(2, 4)
        self.inner = CELLS[cell](4, N_UNITS, batch_first=True)
        self.linear = torch.nn.Linear(N_UNITS, 2)

    def forward(self, codes):
        return self.linear(self.inner(self.lookup(codes))[0])


def labels(language, words):
    """Whether each prefix of each word belongs to the language."""
    transition, accepting = LANGUAGES[language]

    def states(word):
        return list(accumulate(word, lambda s, c: transition[s][c], initial=0))[1:]

    return np.array([[s in accepting for s in states(word)] for word in words], int)


def words_of(language, rng, n):
    """Random words; half of them mostly stay in accepting states, and half of these
    avoid the state that no accepted word passes."""
    transition, accepting = LANGUAGES[language]

    def is_lost(state):
        return state not in accepting and set(transition[state]) == {state}

    words = []
    for i in range(n):
        state, word = 0, []
        for _ in range(LONGEST):
            code = int(rng.random() < 0.5)
            ends = transition[state][code] not in accepting
            if i % 2 and ends and rng.random() < 0.9:
                code = 1 - code
            if i % 4 == 3 and is_lost(transition[state][code]):
                code = 1 - code
            word.append(code)
            state = transition[state][code]
        words.append(word)
    return np.array(words)


@lru_cache(maxsize=1)
def trained(language, cell, seed):
    """A network, and 400 further words."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    rng = np.random.default_rng(seed)
    network = Acceptor(cell)
    adam = torch.optim.Adam(network.parameters(), 5e-3)
    words, others = (words_of(language, rng, n) for n in (N_WORDS, N_WORDS // 4))
    wanted, right = labels(language, words), labels(language, others)
    n_right = 0
    for _ in range(N_EPOCHS):
        for batch in np.array_split(rng.permutation(N_WORDS), 20):
            adam.zero_grad()
            logits = network(torch.tensor(words[batch])).flatten(0, 1)
            target = torch.tensor(wanted[batch]).flatten()
            torch.nn.functional.cross_entropy(logits, target).backward()
            adam.step()
        with torch.no_grad():
            found = network(torch.tensor(others)).argmax(-1).numpy()
        n_right = n_right + 1 if (found == right).all() else 0
        if n_right == 3:
            break
    return network, words_of(language, rng, 400)


@torch.no_grad()
def accepted_words(network):
    """Whether the network accepts each word of up to 20 symbols, by length."""
    vectors = network.lookup(torch.arange(2))
    accepted, state = [], None
    for length in range(1, LONGEST + 1):
        if state is not None:  # each word is continued by 0 and by 1
            parts = state if isinstance(state, tuple) else (state,)
            parts = tuple(p.repeat_interleave(2, dim=1).contiguous() for p in parts)
            state = parts if isinstance(state, tuple) else parts[0]
        symbols = vectors.repeat(2 ** (length - 1), 1)[:, None]
        hidden, state = network.inner(symbols, state)
        accepted.append(network.linear(hidden[:, 0]).argmax(-1).numpy() == 1)
    return accepted


def accepted_by(transition, accepting, start):
    """The same for an automaton."""
    transition, accepts = np.array(transition), np.zeros(len(transition), bool)
    accepts[list(accepting)] = True
    states, accepted = np.array([start]), []
    for _ in range(LONGEST):
        states = transition[states].ravel()
        accepted.append(accepts[states])
    return accepted


def agreement(one, two):
    """Share of words with the same result."""
    return float((np.concatenate(one) == np.concatenate(two)).mean())


def canonical(transition, accepting, start):
    """The minimal automaton, with states numbered breadth first."""
    classes = np.array([s in accepting for s in range(len(transition))], int)
    while True:
        lines = np.column_stack([classes, classes[np.array(transition)]])
        finer = np.unique(lines, axis=0, return_inverse=True)[1]
        if finer.max() == classes.max():
            break
        classes = finer
    order, todo = {}, [start]
    while todo:
        state = todo.pop(0)
        if classes[state] not in order:
            order[classes[state]] = len(order), state
            todo += list(transition[state])
    return [
        ([order[classes[t]][0] for t in transition[state]], state in accepting)
        for _, state in order.values()
    ]


def explained(network, words, n_states, language, seed):
    """Transitions with the start as last state, accepting states, and statistics.

    A network has no output before the first symbol: the label of the empty word is
    taken as known.
    """
    found = cw.explain_rnn(network, words, n_states=n_states, random_state=seed)
    automaton = found.automaton_
    transition = [*automaton.transition.tolist(), automaton.first.tolist()]
    accepting = set(np.flatnonzero(automaton.output.argmax(axis=1)).tolist())
    if 0 in LANGUAGES[language][1]:
        accepting.add(automaton.n_states)
    share = found.fidelity_.explained("automaton alone")
    more = {"states": found.n_states, "explained": share}
    more["differs after"] = "".join(found.counterexample_.word)
    return transition, accepting, automaton.n_states, more


def learned(network, words, language, seed):
    """The same by L* with random words for equivalence queries."""
    import random

    from aalpy.base import SUL
    from aalpy.learning_algs import run_Lstar
    from aalpy.oracles import RandomWordEqOracle

    class Queried(SUL):
        def pre(self):
            self.word = []

        def post(self):
            pass

        def step(self, letter):
            if letter is None:
                return 0 in LANGUAGES[language][1]
            self.word.append(letter)
            with torch.no_grad():
                return bool(network(torch.tensor([self.word]))[0, -1].argmax() == 1)

    random.seed(seed)
    queried = Queried()
    oracle = RandomWordEqOracle(
        [0, 1], queried, num_walks=300, min_walk_len=5, max_walk_len=LONGEST
    )
    found = run_Lstar(
        [0, 1], queried, oracle, "dfa", print_level=0, max_learning_rounds=8
    )
    place = {state: i for i, state in enumerate(found.states)}
    transition = [[place[s.transitions[c]] for c in (0, 1)] for s in found.states]
    accepting = {place[s] for s in found.states if s.is_accepting}
    more = {"states": len(place), "explained": np.nan, "differs after": ""}
    return transition, accepting, place[found.initial_state], more


def recovered(language, cell, seed, quick):
    """A row for each number of clusters, and one for L*."""
    network, words = trained(language, cell, seed)
    truth = *LANGUAGES[language], 0
    by_network = accepted_words(network)
    right = agreement(by_network, accepted_by(*truth))
    ways = {
        f"{n}": partial(explained, network, list(words), n, language, seed)
        for n in SIZES[:: 2 if quick else 1]
    }
    ways["L*"] = partial(learned, network, words, language, seed)
    for way, run in ways.items():
        begin = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            *automaton, more = run()
        seconds = time.process_time() - begin
        same = canonical(*automaton) == canonical(*truth)
        yield {
            "way": way,
            "right": right,
            "exact": same and more["states"] <= len(LANGUAGES[language][0]),
            "agrees": agreement(by_network, accepted_by(*automaton)),
            **more,
            "seconds": seconds,
        }


# The page

ABOUT = f"""\
Networks of {N_UNITS} units classify after every symbol whether the word so far belongs
to the language; their training data are {N_WORDS:,} words of {LONGEST} symbols.
`explain_rnn` reads 400 other words, and merges equivalent states with its default
tolerance. *Exact*: its automaton has the states and transitions of the minimal one. L*
is that of AALpy, with 300 random words per equivalence query, 8 rounds at most. All
2,097,150 words of up to 20 symbols are compared: *right* is the accuracy of the
network, *agrees* the agreement of the automaton with the network. Times are CPU
seconds."""


def reached(frame):
    """Whether the automaton reaches the target, per row."""
    return np.where(frame["right"] == 1, frame["exact"], frame["agrees"] >= ENOUGH)


def headline(frame):
    """Cases that reach the target, as text."""
    own, peer = frame[frame["way"] != "L*"], frame[frame["way"] == "L*"]
    sure, unsure = own[own["right"] == 1], own[own["right"] < 1]
    met = int(reached(own).sum())
    return (
        f"- **{'Reached' if met == len(own) else 'Missed'}**: {met} of {len(own)} "
        "cases (language, cell, seed and number of clusters) reach the target.\n"
        f"- If the network is correct on all words of up to {LONGEST} symbols: "
        f"{int(sure['exact'].sum())} of {len(sure)} automata are exact; L*: "
        f"{int(peer[peer['right'] == 1]['exact'].sum())} of "
        f"{int((peer['right'] == 1).sum())}.\n"
        f"- Otherwise the automaton agrees with the network on {ENOUGH:.1%} of the "
        f"words in {int((unsure['agrees'] >= ENOUGH).sum())} of {len(unsure)} cases "
        f"(minimum agreement {unsure['agrees'].min():.5f}); L*: "
        f"{int((peer[peer['right'] < 1]['agrees'] >= ENOUGH).sum())} of "
        f"{int((peer['right'] < 1).sum())}. Of these networks, "
        f"{int(unsure['exact'].sum())} automata are those of the language itself."
    )


def by_language(frame):
    """Numbers of exact automata by language, cell and number of clusters."""
    ways = list(dict.fromkeys(frame["way"]))
    rows = []
    for (language, cell), own in frame.groupby(["language", "cell"]):
        row = [language, len(LANGUAGES[int(language)][0]), cell]
        row.append(f"{own.groupby('seed')['right'].first().min():.6f}")
        for way in ways:
            cases = own[own["way"] == way]
            states = "/".join(str(n) for n in cases["states"])
            row.append(f"{int(cases['exact'].sum())} of {len(cases)} ({states})")
        rows.append(row)
    return markdown_table(["language", "states", "cell", "right, minimum", *ways], rows)


def by_way(frame):
    """Means by number of clusters."""
    rows = [
        [way, f"{int(own['exact'].sum())} of {len(own)}", own["agrees"].min(),
         own["explained"].mean(), own["seconds"].mean()]
        for way, own in frame.groupby("way", sort=False)
    ]  # fmt: skip
    header = [
        "clusters",
        "exact",
        "agrees, minimum",
        "explained, mean",
        "seconds, mean",
    ]
    return markdown_table(header, rows)


def main():
    options = arguments(__doc__)
    study = Study("sequences_tomita", ["language", "cell", "seed"], options)
    study.run(
        {
            (language, cell, seed): partial(
                recovered, language, cell, seed, options.quick
            )
            for seed in range(1 if options.quick else 3)
            for cell in CELLS
            for language in LANGUAGES
        },
        warm=lambda: None,
    )
    frame = study.frame()
    study.write_markdown(
        "Tomita's languages, recovered from networks",
        ABOUT,
        headline(frame),
        "## By number of clusters",
        by_way(frame),
        "## By language",
        "Exact automata, and in brackets the numbers of states with the seeds 0, 1, 2.",
        by_language(frame),
    )


if __name__ == "__main__":
    main()
