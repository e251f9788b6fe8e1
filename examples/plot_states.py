"""
States over time
================

A hidden Markov model cuts a series into stretches, each in one of a few states: what a
state emits, how long it lasts and where it leads can be read. Cells may be missing, and
numbers may stand beside text.
"""

# %%
# Six made-up nights of a sleeper who lies, sits and stands: a pulse, a posture and a
# temperature. One cell of ten is taken out, and once the sensor of the pulse fails.
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
# A night that was held out, before the colours of its states.
night = cw.sequences.StatesDisplay.from_estimator(hmm, test).plot()

# %%
# Where each state leads when it ends. What marks a state stands beside it, and a state
# is as large as it is frequent in this night.
graph = cw.sequences.AutomatonDisplay.from_estimator(hmm, test).plot()

# %%
# A text is a sequence of letters. With two states the letters that stand beside each
# other fall apart: vowels and blanks are mostly in one, consonants in the other.
text = """It was the best of times, it was the worst of times, it was the age of wisdom,
it was the age of foolishness, it was the epoch of belief, it was the epoch of
incredulity, it was the season of Light, it was the season of Darkness, it was the
spring of hope, it was the winter of despair, we had everything before us, we had
nothing before us, we were all going direct to Heaven, we were all going direct the
other way.""".lower().replace("\n", " ")
letters = cw.HiddenMarkovModel(2, n_draws=100, random_state=0).fit(text)
first = cw.sequences.StatesDisplay.from_estimator(letters, text, length=100).plot()

# %%
# Four chains have drawn parameters from their posterior. Where they move in the same
# band, they have found the same states.
sweeps = cw.sequences.SweepsDisplay.from_estimator(letters).plot()
