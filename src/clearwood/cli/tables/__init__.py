"""Tables from files: types of their columns, and kind of the target."""
