"""Born-again trees (Breiman and Shang 1996)."""
