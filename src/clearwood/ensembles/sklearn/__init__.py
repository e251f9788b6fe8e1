"""scikit-learn: fitted ensembles of trees, in memory.

Read ``model`` first: it has one reader per family of estimators (forests, boosting,
AdaBoost, bagging). ``hist`` reads histogram gradient boosting, which keeps its trees in
another form.
"""
