"""Charts and drawing helpers shared by the displays."""
