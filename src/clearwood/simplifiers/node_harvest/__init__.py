"""Node Harvest (Meinshausen 2010)."""
