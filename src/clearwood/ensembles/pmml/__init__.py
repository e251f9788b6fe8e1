"""Readers of PMML files with tree models.

Read ``model`` first: it combines the trees that ``trees`` converts, while ``elements``
parses the file.
"""
