"""What some rows say about rules, as sums: of blocks of rows, wherever these are."""
