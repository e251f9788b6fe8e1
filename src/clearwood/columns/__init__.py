"""The columns of a table: read, checked, encoded as numbers, and described."""
