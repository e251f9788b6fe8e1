"""
A hidden Markov model
=====================

A hidden Markov model divides a series into segments, each in one of a few states, with
readable emissions, durations and transitions. Cells may be missing, and columns may be
numeric or text.
"""

# %%
# Six simulated nights of a person who lies, sits and stands: pulse, posture and
# temperature. One cell in ten is removed, and the pulse sensor fails once.
import numpy as np
import pandas as pd

import clearwood as cw

rng = np.random.default_rng(0)
phase = np.tile(np.repeat([0, 1, 2, 1], [40, 10, 25, 10]), 6)
series = pd.DataFrame({
    "pulse": np.array([62.0, 75.0, 118.0])[phase] + rng.normal(0, 5, 510),
    "posture": np.array(["lying", "sitting", "standing"])[phase],
    "temperature": 36.6 + 0.4 * (phase == 2) + rng.normal(0, 0.15, 510),
})  # fmt: skip
series = series.mask(rng.random(series.shape) < 0.1)
series.loc[460:470, "pulse"] = np.nan
train, test = series[:425], series[425:]

hmm = cw.HiddenMarkovModel(3, emission="mixed", algorithm="em", random_state=0)
hmm.fit(train, [85] * 5)
print(hmm.means_.round(1))

# %%
# A test night, coloured by state.
night = cw.sequences.StatesDisplay.from_estimator(hmm, test)

# %%
# Transitions between states, with the distinguishing features of each. The size of a
# state is its frequency in this night.
graph = cw.sequences.AutomatonDisplay.from_estimator(hmm, test)

# %%
# A text is a sequence of letters. With two states, vowels and blanks are mostly in one
# state and consonants in the other.
text = """It was the best of times, it was the worst of times, it was the age of wisdom,
it was the age of foolishness, it was the epoch of belief, it was the epoch of
incredulity, it was the season of Light, it was the season of Darkness, it was the
spring of hope, it was the winter of despair, we had everything before us, we had
nothing before us, we were all going direct to Heaven, we were all going direct the
other way.""".lower().replace("\n", " ")
letters = cw.HiddenMarkovModel(2, n_draws=100, random_state=0).fit(text)
first = cw.sequences.StatesDisplay.from_estimator(letters, text, length=100)

# %%
# Four chains sample parameters from their posterior. If their traces overlap, they have
# found the same states.
sweeps = cw.sequences.SweepsDisplay.from_estimator(letters)
