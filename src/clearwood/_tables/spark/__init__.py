"""Frames of Spark as blocks of rows."""
