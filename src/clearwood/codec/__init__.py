"""Files that anybody can open safely: JSON from anywhere, plain arrays, no code."""
