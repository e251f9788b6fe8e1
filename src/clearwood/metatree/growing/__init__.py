"""Sources of the structure of a meta-tree."""
