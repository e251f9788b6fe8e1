"""
Kinds of rows, and columns that go together
===========================================

A sum-product network describes the rows of a table: of which kinds they are, and which
columns depend on each other within a kind. It is learned with text, numbers and gaps as
they come.
"""

# %%
# Thirteen measurements of 178 Italian wines and their cultivar, as text. One cell of
# five is taken out.
import numpy as np
from sklearn.datasets import load_wine

import clearwood as cw

wine = load_wine(as_frame=True)
table = wine.data.rename(columns={"od280/od315_of_diluted_wines": "od280"})
table["cultivar"] = [f"no. {k + 1}" for k in wine.target]
rng = np.random.default_rng(0)
table = table.mask(rng.random(table.shape) < 0.2)
order = rng.permutation(len(table))
train, test = table.iloc[order[:120]], table.iloc[order[120:]]

network = cw.MiniSPN(random_state=0).fit(train)
print(network.circuit_)

# %%
# The same as a picture. From left to right stand the rows, by kinds, each as wide as
# its share; every column is a strip. Blue is below the column's mean in all rows,
# orange above. Columns that depend on each other are neighbours.
kinds = cw.circuits.CircuitDisplay.from_estimator(network).plot()

# %%
# A column given others, exactly, whatever else is missing.
curves = cw.circuits.ConditionalDisplay.from_estimator(
    network, "flavanoids", [{"cultivar": f"no. {k}"} for k in (1, 2, 3)]
).plot()

# %%
# And the cultivar, given measurements.
bars = cw.circuits.ConditionalDisplay.from_estimator(
    network, "cultivar", [{"flavanoids": 3.0}, {"flavanoids": 3.0, "proline": 500.0}]
).plot()

# %%
# The row held out that is least probable, and which of its entries the others did not
# let expect.
least = int(np.argmin(network.score_samples(test)))
row = cw.circuits.AnomalyDisplay.from_estimator(network, test.iloc[[least]]).plot()

# %%
# A search through networks of all sizes leaves those that nothing of their size beats.
search = cw.ParetoSPN(300, random_state=0).fit(train)
sizes = cw.circuits.NetworkSizesDisplay.from_estimator(search).plot()
