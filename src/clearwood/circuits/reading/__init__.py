"""A circuit as one reads it: in words, in pictures, and on a page."""
