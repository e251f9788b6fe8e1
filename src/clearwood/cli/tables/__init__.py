"""Tables from files: what cells say, and what kind of target a column is."""
