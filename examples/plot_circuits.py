"""
Clusters of rows and dependent columns
======================================

A sum-product network models the joint distribution of the columns of a table: a mixture
of clusters of rows, and the dependent columns within each cluster. Columns may be
numeric or text, and cells may be missing.
"""

# %%
# Thirteen measurements of 178 Italian wines, and their cultivar as text. One cell in
# five is removed.
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
# The network as a chart. The width of a cluster is its share of the rows; each column
# is a strip. Blue is below the overall mean of the column, orange above. Dependent
# columns are adjacent.
chart = cw.circuits.CircuitDisplay.from_estimator(network)

# %%
# Exact conditional distributions of a column; all other columns are missing.
curves = cw.circuits.ConditionalDisplay.from_estimator(
    network, "flavanoids", [{"cultivar": f"no. {k}"} for k in (1, 2, 3)]
)

# %%
# The cultivar given measurements.
bars = cw.circuits.ConditionalDisplay.from_estimator(
    network, "cultivar", [{"flavanoids": 3.0}, {"flavanoids": 3.0, "proline": 500.0}]
)

# %%
# The least probable test row, and its improbable entries given the others.
least = int(np.argmin(network.score_samples(test)))
row = cw.circuits.AnomalyDisplay.from_estimator(network, test.iloc[[least]])

# %%
# `ParetoSPN` searches networks of all sizes and keeps the Pareto-optimal ones.
search = cw.ParetoSPN(300, random_state=0).fit(train)
sizes = cw.circuits.NetworkSizesDisplay.from_estimator(search)
