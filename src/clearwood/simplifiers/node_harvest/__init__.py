"""Node Harvest (Meinshausen 2010).

Read ``programme`` for the article's quadratic programme, ``nodes`` for what it chooses
from, and ``sparse`` for the short averages, which are ours.
"""
