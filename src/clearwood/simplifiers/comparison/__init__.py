"""All methods beside one another on one model and its data."""
