"""scikit-learn: fitted ensembles of trees."""
