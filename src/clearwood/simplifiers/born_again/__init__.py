"""Born-again trees, grown on synthetic rows drawn in every node.

Read ``estimators`` for the steps, ``trees`` for how a tree grows, ``smearing`` for how
rows are drawn inside a box.
"""
