"""Export of rules to SQL, Python, LaTeX and scikit-learn trees."""
