"""From regions to printed rules."""
