"""What the pages say beside their tables."""

PRIOR = EFFECT = CLASSES = SIZES_CHOSEN = "..."
