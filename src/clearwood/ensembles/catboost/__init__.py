"""CatBoost: models in memory and JSON files."""
