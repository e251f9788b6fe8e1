"""XGBoost: models in memory, JSON and UBJSON files."""
