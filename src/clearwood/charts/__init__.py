"""Drawing helpers that the displays of several rooms share."""
