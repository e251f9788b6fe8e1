"""Text for display: numbers, names, labels and sentences."""
