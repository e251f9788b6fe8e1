"""Readers of scikit-learn's fitted tree ensembles, in memory and in skops files.

Read ``model`` first: it has one reader per family of estimators (forests, boosting,
AdaBoost, bagging). ``hist`` reads histogram gradient boosting, whose trees have another
form.
"""
