"""Which of two methods is better, and how stable a tree is."""
