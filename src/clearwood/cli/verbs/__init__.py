"""A file per verb of the command."""
