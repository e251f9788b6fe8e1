"""Rules as models that other runtimes execute, and as text for language models."""
