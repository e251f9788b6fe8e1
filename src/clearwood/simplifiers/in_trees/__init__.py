"""inTrees (Deng 2014).

Read ``algorithm``, whose first function is the article from its first step to its last;
``paths`` extracts, ``pruning`` evaluates and prunes, ``ordering`` orders.
"""
