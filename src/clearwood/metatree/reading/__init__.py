"""Meta-trees as text, tables and pictures."""
