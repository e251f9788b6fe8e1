"""Reading states over time: in words, colours and pictures."""
