"""Where the structure of a meta-tree comes from."""
