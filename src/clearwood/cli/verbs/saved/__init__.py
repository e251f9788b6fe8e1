"""Commands for saved rules, mostly with new rows."""
