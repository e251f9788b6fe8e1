"""What the methods that simplify share."""
