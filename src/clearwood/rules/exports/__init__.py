"""Rules for other tools: SQL, Python, LaTeX and scikit-learn's trees."""
