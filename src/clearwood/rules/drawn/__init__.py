"""Trees, and lists as chains of questions, drawn."""
