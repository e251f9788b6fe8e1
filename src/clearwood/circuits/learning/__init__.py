"""Structure learning: recursive splits of rows and columns."""
