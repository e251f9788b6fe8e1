"""Construction of printed rules from regions."""
