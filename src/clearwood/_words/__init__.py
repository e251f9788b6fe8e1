"""Words for people: how numbers are written, and what columns are called."""
