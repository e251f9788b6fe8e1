"""Statistics of rules as sums over blocks of rows, in memory or not."""
