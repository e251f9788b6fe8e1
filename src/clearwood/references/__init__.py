"""Reference models: models of every kind as draws of their predictions."""

from clearwood.references.arviz_draws import arviz_reference
from clearwood.references.bart import BartReference
from clearwood.references.base import Reference
from clearwood.references.door import reference
from clearwood.references.forests import BayesianBootstrapForest, ForestReference
from clearwood.references.functions import FunctionReference, dropout_reference
from clearwood.references.gaussian import GaussianProcessReference, LinearReference
from clearwood.references.given import GivenDraws
from clearwood.references.predictors import PipelineReference, PredictorReference

__all__ = [
    "BartReference",
    "BayesianBootstrapForest",
    "ForestReference",
    "FunctionReference",
    "GaussianProcessReference",
    "GivenDraws",
    "LinearReference",
    "PipelineReference",
    "PredictorReference",
    "Reference",
    "arviz_reference",
    "dropout_reference",
    "reference",
]
