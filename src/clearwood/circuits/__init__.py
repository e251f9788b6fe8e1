"""Sum-product networks: densities that answer every question exactly (Krakovna, 4)."""
