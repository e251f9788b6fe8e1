"""Node Harvest (Meinshausen 2010).

Read ``programme`` for the article's quadratic programme, ``nodes`` for its candidates,
and ``sparse`` for the short averages, which are an addition.
"""
